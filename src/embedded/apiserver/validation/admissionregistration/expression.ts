/** Expressions in objects: whether they can be read, and whether they give what they must. */
import { admissionVariables, type AdmissionScope } from "../../cel/admission-types.ts";
import { compiled } from "../../cel/compile.ts";
import { dyn, errorType, printed, type Type } from "../../cel/type.ts";
import { celEnvironment } from "../../cel/environment.ts";
import { syntaxProblem } from "../../cel/syntax.ts";
import type { Field } from "../field.ts";

export interface Expected extends AdmissionScope {
  /** One of these types, as they are printed. @default any */
  readonly result?: readonly string[];
}

/** Messages are made by mutating policies alone; the parser does not know their types. */
const messages = /\b(Object|JSONPatch)[\w.]*\s*\{/;

/** Refuses what CEL cannot read, names that are not there and results of another type. @returns its type */
export function compiles(expression: Field, { result, ...scope }: Expected): Type {
  const { text } = expression;
  if (messages.test(text)) return dyn;
  const made = compiled(text, admissionVariables(scope));
  if (typeof made === "string") {
    expression.invalid(`compilation failed: ${made}`, text);
    return errorType;
  }
  const { type } = made.checked;
  const got = printed(type);
  if (result === undefined || result.includes(got)) return type;
  const wanted = result.length === 1 ? result[0] : `one of [${result.join(" ")}]`;
  expression.invalid(`must evaluate to ${wanted} but got ${got}`, text);
  return type;
}

/** Refuses what CEL cannot read, whatever it speaks of. */
export function parses(expression: Field): void {
  try {
    celEnvironment().parse(expression.text);
  } catch (error) {
    expression.invalid(`compilation failed: ${syntaxProblem(expression.text, error)}`, expression.text);
  }
}
