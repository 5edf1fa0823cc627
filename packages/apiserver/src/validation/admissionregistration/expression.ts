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
  const shown = trimmed === "shown" ? text : expression.text;
  if (messages.test(text)) {
    const cutOff = unfinished(text);
    if (cutOff === undefined) return dyn;
    expression.invalid(`compilation failed: ${cutOff}`, shown);
    return errorType;
  }
  const made = compiled(text, admissionVariables(scope));
  if (typeof made === "string") {
    expression.invalid(`compilation failed: ${made}`, shown);
    return errorType;
  }
  const { type } = made.checked;
  const got = printed(type);
  if (result === undefined || result.includes(got)) {
    const problem = instantiationProblem(made.node);
    if (problem === undefined) return type;
    expression.add("Internal", problem);
    return errorType;
  }
  const wanted = result.length === 1 ? result[0] : `one of [${result.join(" ")}]`;
  expression.invalid(`must evaluate to ${wanted} but got ${got}`, shown);
  return type;
}
