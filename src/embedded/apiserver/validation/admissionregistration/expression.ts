/** Expressions in objects: whether they can be read. */
import { celEnvironment } from "../../cel/environment.ts";
import { type CelNode, checkNames } from "../../cel/types.ts";
import type { Field } from "../field.ts";

/** What expressions of admission may speak of. */
export const webhookVariables: readonly string[] = ["object", "oldObject", "request", "authorizer"];
export const policyVariables: readonly string[] = [...webhookVariables, "namespaceObject", "params", "variables"];

export interface Expected {
  readonly variables: readonly string[];
  /** What it must give: `bool`, `string`; anything where it is left out. */
  readonly result?: string;
}

/** Refuses what CEL cannot read, names that are not there and results of another type. */
export function compiles(expression: Field, expected?: Expected): void {
  const { text } = expression;
  // Messages are made by mutating policies alone; the parser does not know their types.
  if (/\b(Object|JSONPatch)[\w.]*\s*\{/.test(text)) return;
  let ast: CelNode;
  try {
    ({ ast } = celEnvironment().parse(text));
  } catch (error) {
    const wrong = syntaxProblem(text, error instanceof Error ? error.message : String(error));
    return expression.invalid(`compilation failed: ${wrong}`, text);
  }
  if (expected === undefined) return;
  const { errors, type } = checkNames(ast, text, expected.variables);
  if (errors.length > 0) expression.invalid(`compilation failed: ${errors.join("\n")}`, text);
  else if (expected.result !== undefined && type !== "dyn" && type !== expected.result)
    expression.invalid(`must evaluate to ${expected.result}`, text);
}

const expected =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

function syntaxProblem(text: string, message: string): string {
  if (text === "") return `ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting ${expected}`;
  const found = /^\w+ \w+/.exec(text);
  const isTwoWords = found !== null && !/^\w+ in\b/.test(text);
  const column = isTwoWords ? text.indexOf(" ") + 1 : text.length;
  const word = /^\w+/.exec(text.slice(column))?.[0] ?? "";
  const what = isTwoWords
    ? `mismatched input '${word}' expecting <EOF>`
    : `mismatched input '<EOF>' expecting ${expected}`;
  const isKnown = isTwoWords || /EOF|end/i.test(message);
  const said = isKnown ? what : (message.split("\n")[0] ?? "");
  return `ERROR: <input>:1:${column + 1}: Syntax error: ${said}\n | ${text}\n | ${".".repeat(column)}^`;
}
