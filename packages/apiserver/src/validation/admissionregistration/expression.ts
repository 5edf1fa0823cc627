/** Validates the expressions in objects: whether they compile, and whether they have the required type. */
import { admissionVariables, type AdmissionScope } from "../../cel/admission-types.ts";
import { compiled, instantiationProblem } from "../../cel/compile.ts";
import { unfinished } from "../../cel/syntax.ts";
import { dyn, errorType, printed, type Type } from "../../cel/type.ts";
import type { Field } from "../field.ts";

export interface Expected extends AdmissionScope {
  /** The allowed types, as error messages print them. @default any */
  readonly result?: readonly string[];
  /**
   * Whether surrounding white space is ignored when the expression is compiled; with `shown`, also when it is quoted.
   */
  readonly trimmed?: "read" | "shown";
}

/** Only mutating policies make messages, whose types the parser does not know. */
const messages = /(?<![\w.])(?=[\w.]*\b(?:Object|JSONPatch))[\w.]+\s*\{/;

/** Rejects syntax errors, unknown names and results of another type. @returns its type */
export function compiles(expression: Field, { result, trimmed, ...scope }: Expected): Type {
  const text = trimmed === undefined ? expression.text : expression.text.trim();
  const excerpt = trimmed === "shown" ? text : expression.text;
  if (messages.test(text)) {
    const cutOff = unfinished(text);
    if (cutOff === undefined) return dyn;
    expression.invalid(`compilation failed: ${cutOff}`, excerpt);
    return errorType;
  }
  const program = compiled(text, admissionVariables(scope));
  if (typeof program === "string") {
    expression.invalid(`compilation failed: ${program}`, excerpt);
    return errorType;
  }
  const { type } = program.checked;
  const got = printed(type);
  if (result === undefined || result.includes(got)) {
    const problem = instantiationProblem(program.node);
    if (problem === undefined) return type;
    expression.add("Internal", problem);
    return errorType;
  }
  const expected = result.length === 1 ? result[0] : `one of [${result.join(" ")}]`;
  expression.invalid(`must evaluate to ${expected} but got ${got}`, excerpt);
  return type;
}
