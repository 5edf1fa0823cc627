/** Whether an expression of a definition can be compiled. */
import { celEnvironment } from "./environment.ts";
import { checkTypes } from "./types.ts";
import type { Schema } from "../schema/schema.ts";

export interface CompileOptions {
  /** What `self` is. */
  readonly schema: Schema;
  /** Whether that is the whole object. */
  readonly root: boolean;
  /** What the expression must give. */
  readonly result: "bool" | "string";
}

/** Why it cannot be compiled, in the server's words where it is a name or a type; `undefined` when it can. */
export function compileError(expression: string, { schema, root, result }: CompileOptions): string | undefined {
  const what = result === "bool" ? "" : "messageExpression ";
  let parsed;
  try {
    parsed = celEnvironment().parse(expression);
  } catch (error) {
    return `${what}compilation failed: ${syntaxError(error, expression)}`;
  }
  const { errors, type } = checkTypes(parsed.ast, { expression, schema, root });
  if (errors.length > 0) return `${what}compilation failed: ${errors.join("\n")}`;
  const { valid, error } = parsed.check();
  if (!valid) return `${what}compilation failed: ${syntaxError(error, expression)}`;
  if (type === "dyn" || type === result) return undefined;
  return result === "bool" ? "cel expression must evaluate to a bool" : "messageExpression must evaluate to a string";
}

const endOfInput =
  "mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

function syntaxError(error: unknown, expression: string): string {
  const { summary, range } = error as { readonly summary?: string; readonly range?: { readonly start: number } };
  const column = range?.start ?? expression.length;
  const what = `Syntax error: ${summary === "Unexpected token: EOF" ? endOfInput : (summary ?? String(error))}`;
  return `ERROR: <input>:1:${column + 1}: ${what}\n | ${expression}\n | ${".".repeat(column)}^`;
}
