/** Whether an expression of a definition can be compiled. */
import { type Compiled, compiled, instantiationProblem } from "./compile.ts";
import { schemaType } from "./schema-type.ts";
import { dyn, optionalOf } from "./type.ts";
import type { Schema } from "../schema/schema.ts";

export interface CompileOptions {
  /** What `self` is. */
  readonly schema: Schema;
  /** Whether that is the whole object. */
  readonly root: boolean;
  /** What the expression must give. */
  readonly result: "bool" | "string";
  /** What was before is an optional. */
  readonly optionalOldSelf: boolean;
}

/** @returns why it cannot be compiled, in the server's words */
export function compiledRule(
  expression: string,
  { schema, root, result, optionalOldSelf }: CompileOptions,
): Compiled | string {
  const self = schemaType(schema, root) ?? dyn;
  const oldSelf = optionalOldSelf ? optionalOf(self) : self;
  const made = compiled(
    expression,
    new Map([
      ["self", self],
      ["oldSelf", oldSelf],
    ]),
  );
  const prefix = result === "bool" ? "" : "messageExpression ";
  if (typeof made === "string") return `${prefix}compilation failed: ${made}`;
  if (made.checked.type.name === result) {
    const problem = instantiationProblem(made.node);
    return problem === undefined ? made : `${prefix}${problem}`;
  }
  return result === "bool" ? "cel expression must evaluate to a bool" : "messageExpression must evaluate to a string";
}
