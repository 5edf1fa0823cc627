/** Checks whether an expression of a CustomResourceDefinition compiles. */
import { type Compiled, compiled, instantiationProblem } from "./compile.ts";
import { schemaType } from "./schema-type.ts";
import { dyn, optionalOf } from "./type.ts";
import type { Schema } from "../schema/schema.ts";

export interface CompileOptions {
  /** The schema of `self`. */
  readonly schema: Schema;
  /** Whether that is the whole object. */
  readonly root: boolean;
  /** The type that the expression must have. */
  readonly result: "bool" | "string";
  /** Whether `oldSelf` is an optional. */
  readonly optionalOldSelf: boolean;
}

/** Compiles an expression. @returns in the server's words why it does not compile */
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
