/** Validates the rules in a CustomResourceDefinition's schema. */
import { type FieldError, notSupported } from "../field-error.ts";
import type { Fields } from "../hooks.ts";
import { compiledRule } from "../cel/compile-rule.ts";
import { costOf } from "../cel/cost.ts";
import { usesOldSelf } from "../cel/rules.ts";
import { mostTimes, sizesOf } from "../cel/sizes.ts";
import { schemaOf } from "./custom.ts";
import type { TotalCost } from "./total-cost.ts";
import type { CelRule } from "./schema.ts";
import { fieldsOf } from "./structural.ts";

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Returns the errors of a rule that do not depend on its expression. */
export function ruleErrors(schema: Fields, rule: CelRule, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const [text, message, expression] = [rule.rule ?? "", rule.message ?? "", rule.messageExpression ?? ""];
  const invalid = (name: string, badValue: unknown, detail: string): void =>
    void errors.push({ type: "Invalid", field: `${path}.${name}`, badValue, detail });
  if (text.trim() === "") errors.push({ type: "Required", field: `${path}.rule`, detail: "rule is not specified" });
  else if (message !== "" && message.trim() === "") invalid("message", message, "must be non-empty if specified");
  else if (message.trim().includes("\n")) invalid("message", message, "must not contain line breaks");
  else if (text.trim().includes("\n") && message.trim() === "") {
    const detail = "message must be specified if rule contains line breaks";
    errors.push({ type: "Required", field: `${path}.message`, detail });
  }
  if (expression !== "" && expression.trim() === "") {
    const detail = "messageExpression must be non-empty if specified";
    errors.push({ type: "Required", field: `${path}.messageExpression`, detail });
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    errors.push(notSupported(`${path}.reason`, rule.reason, { valid: reasons }));
  }
  const fieldPath = rule.fieldPath ?? "";
  if (fieldPath === "") return errors;
  if (fieldPath.trim() === "") invalid("fieldPath", fieldPath, "must be non-empty if specified");
  if (fieldPath.includes("\n")) invalid("fieldPath", fieldPath, "must not contain line breaks");
  if (!isFieldPath(schema, fieldPath)) invalid("fieldPath", fieldPath, "must be a valid path");
  return errors;
}

/** Whether `.a.b['c']` leads to a field of the schema. */
function isFieldPath(schema: Fields, path: string): boolean {
  return schemaAt(schema, path) !== undefined;
}

/** Returns the schema at `.a.b['c']`. */
export function schemaAt(schema: Fields, path: string): Fields | undefined {
  if (!/^(?:\.[^.[\]]+|\['(?:[^'\\]|\\.)*'\])+$/.test(path)) return undefined;
  let at: Fields | undefined = schema;
  for (const [, name, quoted] of path.matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/g)) {
    const properties = fieldsOf(at?.properties);
    at = properties
      ? fieldsOf(properties[name ?? (quoted ?? "").replace(/\\(.)/g, "$1")])
      : fieldsOf(at?.additionalProperties);
    if (!at) return undefined;
  }
  return at;
}

export interface RulePlace {
  readonly uncorrelated: string | undefined;
  readonly schema: Fields;
  readonly root: boolean;
  /** The largest number of times that the value occurs in one object; `undefined` when that is unbounded. */
  readonly times: number | undefined;
  /** The cost of all rules of the definition. */
  readonly total: TotalCost;
}

/** Returns why the rule's expressions do not compile. */
export function compileErrors(rule: CelRule, path: string, place: RulePlace): FieldError[] {
  const { uncorrelated, schema, root } = place;
  const errors: FieldError[] = [];
  const self = schemaOf(schema);
  const invalid = (name: string, detail: string): void =>
    void errors.push({ type: "Invalid", field: `${path}.${name}`, badValue: rule, detail });
  const { optionalOldSelf = false } = rule;
  const compilation = compiledRule(rule.rule, { schema: self, root, result: "bool", optionalOldSelf });
  const sizes = sizesOf(self, root);
  const times = place.times ?? (sizes === undefined ? 1 : mostTimes(sizes));
  if (typeof compilation === "string") invalid("rule", compilation);
  else errors.push(...place.total.add(`${path}.rule`, costOf(compilation, sizes) * times, "estimated rule cost"));
  if (rule.messageExpression) {
    const message = compiledRule(rule.messageExpression, { schema: self, root, result: "string", optionalOldSelf });
    if (typeof message === "string") invalid("messageExpression", message);
    else {
      const cost = costOf(message, sizes);
      errors.push(...place.total.add(`${path}.messageExpression`, cost, "estimated messageExpression cost"));
    }
  }
  if (typeof compilation !== "string" && usesOldSelf(rule.rule)) {
    if (uncorrelated !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
      errors.push({ type: "Invalid", field: `${path}.rule`, badValue: rule.rule, detail });
    }
  } else if (rule.optionalOldSelf !== undefined) {
    const detail = "may not be set if oldSelf is not used in rule";
    errors.push({ type: "Invalid", field: `${path}.optionalOldSelf`, badValue: rule.optionalOldSelf, detail });
  }
  return errors;
}
