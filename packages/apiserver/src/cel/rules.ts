/** Evaluates the rules of a schema, `x-kubernetes-validations`, on an object. */
import { errorText, type FieldError, type FieldErrorType } from "../field-error.ts";
import { equalValues } from "../patch/typed-values.ts";
import { Budget, budgetOfRules, type Outcome, outOfBudget } from "./cost-meter.ts";
import { celEnvironment, optionalEnvironment } from "./environment.ts";
import { type Program, programOf } from "./program.ts";
import { schemaType } from "./schema-type.ts";
import { celLibrary } from "./library.ts";
import { dyn, optionalOf } from "./type.ts";
import { toCel, toCelRoot } from "./values.ts";
import type { CelRule, Schema } from "../schema/schema.ts";
import { byKeys, keyOf } from "../schema/value-validation.ts";
import { getOrInsert } from "../get-or-insert.ts";

export interface RuleOptions {
  /** The object that is replaced. */
  readonly old?: unknown;
  /** Called with rules that an unchanged part breaks, which do not reject the object. */
  readonly warn?: ((problem: string) => void) | undefined;
}

export function validateRules(schema: Schema, object: unknown, { old, warn }: RuleOptions = {}): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, object, { old, path: "", root: true, errors, warn, budget: new Budget(budgetOfRules) });
  return errors;
}

/**
 * The objects and lists that fulfil the rules of their schema, with what each rule costs, so that a change elsewhere
 * does not run these again.
 */
const sound = new WeakMap<Schema, WeakMap<object, readonly number[]>>();

const withRules = new WeakMap<Schema, boolean>();

/** Whether the schema contains rules anywhere. */
export function hasRules(schema: Schema): boolean {
  return getOrInsert(withRules, schema, () => {
    if (schema.go) return false;
    if (schema.values?.rules) return true;
    const inside = [...(schema.properties?.values() ?? []), schema.items, schema.additional];
    return inside.some((one) => one !== undefined && hasRules(one));
  });
}

interface Place {
  /** The value before the update; `undefined` when it is unknown. */
  readonly old: unknown;
  readonly path: string;
  readonly root: boolean;
  readonly errors: FieldError[];
  readonly warn: RuleOptions["warn"];
  /** What the rules of the whole object may cost. */
  readonly budget: Budget;
}

function visit(schema: Schema, value: unknown, place: Place): void {
  if (value === null || value === undefined || place.budget.left < 0 || !hasRules(schema)) return;
  if (schema.values?.rules) run(schema, value, place);
  const { old, path, errors, warn, budget } = place;
  if (Array.isArray(value)) {
    if (!schema.items) return;
    const before = schema.listType === "map" && Array.isArray(old) ? byKeys(old, schema.listKeys) : undefined;
    const isSame = before === undefined && Array.isArray(old) && equalValues(old, value);
    for (const [index, item] of value.entries()) {
      // An item of a list without keys has an old value only if the whole list is unchanged.
      const same = isSame ? (old as unknown[])[index] : before?.get(keyOf(item, schema.listKeys));
      visit(schema.items, item, { old: same, path: `${path}[${index}]`, root: false, errors, warn, budget });
    }
  } else if (typeof value === "object") {
    const before = typeof old === "object" && old !== null ? (old as Readonly<Record<string, unknown>>) : {};
    for (const [name, field] of Object.entries(value)) {
      const property = schema.properties?.get(name);
      const inner = property ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`;
      const next = property ?? schema.additional;
      const same = Object.hasOwn(before, name) ? before[name] : undefined;
      if (next) visit(next, field, { old: same, path: inner, root: false, errors, warn, budget });
    }
  }
}

interface RuleProgram {
  readonly usesOld: boolean;
  /** The rule, or the reason why it does not compile. */
  readonly program: Program | Error;
  readonly message: Program | undefined;
}

type Variables = Readonly<Record<string, unknown>>;

const programs = new WeakMap<CelRule, RuleProgram>();

function ruleProgram(rule: CelRule, schema: Schema, root: boolean): RuleProgram {
  const self = schemaType(schema, root || schema.embedded) ?? dyn;
  const isOptional = rule.optionalOldSelf === true;
  const options = {
    environment: isOptional ? optionalEnvironment() : celEnvironment(),
    types: new Map([
      ["self", self],
      ["oldSelf", isOptional ? optionalOf(self) : self],
    ]),
  };
  const compile = (expression: string): Program | Error => {
    try {
      return programOf(expression, options);
    } catch (error) {
      return error as Error;
    }
  };
  const message = rule.messageExpression ? compile(rule.messageExpression) : undefined;
  return {
    usesOld: usesOldSelf(rule.rule),
    program: compile(rule.rule),
    message: message instanceof Error ? undefined : message,
  };
}

/** Looks for the name outside of string literals. */
export function usesOldSelf(expression: string): boolean {
  return /\boldSelf\b/.test(expression.replace(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)/g, ""));
}

function run(schema: Schema, value: unknown, { old, path, root, errors, warn, budget }: Place): void {
  const place = path === "" ? "<nil>" : path;
  const unchanged = old !== undefined && old !== null && equalValues(old, value);
  const known = getOrInsert(sound, schema, () => new WeakMap());
  const before = unchanged && typeof old === "object" ? known.get(old) : undefined;
  let isBroken = false;
  /** Rejects the object, or only warns when the broken part is unchanged and the rule does not read the old value. */
  const report = (error: FieldError, usesOld: boolean): void => {
    if (!usesOld) isBroken = true;
    if (unchanged && !usesOld) warn?.(errorText(error));
    else errors.push(error);
  };
  const convert = (one: unknown): unknown =>
    root ? toCelRoot(one as Readonly<Record<string, unknown>>, schema) : toCel(one, schema);
  /** Rejects the object without running any further rule. */
  const stop = (detail: string): void => {
    errors.push({ type: "Invalid", field: place, badValue: schema.type, detail });
    budget.end();
  };
  if (budget.left === 0) return stop(`validation ${outOfBudget}`);
  const costs: number[] = [];
  let self: unknown;
  for (const [index, rule] of schema.values!.rules!.entries()) {
    const compiled = getOrInsert(programs, rule, () => ruleProgram(rule, schema, root));
    const { usesOld, program } = compiled;
    const invalid = (detail: string): void =>
      report({ type: "Invalid", field: place, badValue: schema.type, detail }, usesOld);
    if (program instanceof Error) {
      invalid(`rule compile error: ${words(program)}`);
      continue;
    }
    const hasOld = old !== undefined && old !== null;
    if (usesOld && !hasOld && !rule.optionalOldSelf) continue;
    const cost = usesOld ? undefined : before?.[index];
    if (cost !== undefined) {
      costs[index] = cost;
      if (budget.pay(cost)) continue;
      return stop(`validation ${outOfBudget}`);
    }
    const context: Record<string, unknown> = {};
    let outcome: Outcome;
    try {
      context.self = self ??= convert(value);
      if (usesOld) context.oldSelf = oldValue(rule, hasOld ? convert(old) : undefined);
      outcome = program.run(context);
    } catch (problem) {
      outcome = { cost: 0, value: undefined, error: problem, isCancelled: false };
    }
    costs[index] = outcome.cost;
    if (!budget.pay(outcome.cost)) return stop(`validation ${outOfBudget}`);
    if (outcome.isCancelled) return stop(cancelled(outcome, rule));
    if (outcome.error !== undefined) {
      invalid(runtimeError(words(outcome.error), rule));
      continue;
    }
    if (outcome.value === true) continue;
    report(broken(rule, compiled, { schema, value, path, context, budget }), usesOld);
    if (budget.left < 0) return;
  }
  if (!isBroken && typeof value === "object" && value !== null) known.set(value, costs);
}

function cancelled({ error }: Outcome, rule: CelRule): string {
  return `'${words(error)}': no further validation rules will be run due to call cost exceeds limit for rule: ${shownAs(rule)}`;
}

function shownAs(rule: CelRule): string {
  return rule.message?.trim() || rule.rule.trim();
}

function oldValue({ optionalOldSelf }: CelRule, before: unknown): unknown {
  if (!optionalOldSelf) return before;
  const { Optional } = celLibrary();
  return before === undefined ? Optional.none() : Optional.of(before);
}

interface Broken {
  readonly schema: Schema;
  readonly value: unknown;
  readonly path: string;
  readonly context: Variables;
  readonly budget: Budget;
}

const reasons: Readonly<Record<string, FieldErrorType>> = {
  FieldValueForbidden: "Forbidden",
  FieldValueRequired: "Required",
  FieldValueDuplicate: "Duplicate",
};

function broken(rule: CelRule, { message }: RuleProgram, { schema, value, path, context, budget }: Broken): FieldError {
  const field = path + ruleField(rule.fieldPath, schema, path);
  const place = field === "" ? "<nil>" : field;
  const said = message === undefined ? undefined : messageOf(message.run(context), rule, budget);
  if (budget.left < 0) return { type: "Invalid", field: place, badValue: schema.type, detail: said ?? "" };
  const detail = said ?? (rule.message?.trim() || `failed rule: ${rule.rule.trim()}`);
  const type = reasons[rule.reason ?? ""] ?? "Invalid";
  const whole = schema.type === "object" || schema.type === "array";
  return { type, field: place, ...(whole ? {} : { badValue: value }), detail: type === "Duplicate" ? "" : detail };
}

/** Formats a path such as `.spec['a-b']` as the server does: fields of structs with a dot, keys of maps in brackets. */
function ruleField(fieldPath: string | undefined, schema: Schema, prefix: string): string {
  let printed = "";
  let at: Schema | undefined = schema;
  for (const [, name, quoted] of (fieldPath ?? "").matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/g)) {
    const key: string = name ?? (quoted ?? "").replace(/\\(.)/g, "$1");
    const property: Schema | undefined = at?.properties?.get(key);
    if (property || !at?.additional) printed += printed === "" && prefix === "" ? key : `.${key}`;
    else printed += `[${key}]`;
    at = property ?? at?.additional;
  }
  return printed;
}

/**
 * Returns the message that an expression made; `undefined` when it cannot be used. When the expression was too
 * expensive, this ends the budget and returns that.
 */
function messageOf(outcome: Outcome, rule: CelRule, budget: Budget): string | undefined {
  if (!budget.pay(outcome.cost)) return `messageExpression evaluation ${outOfBudget}`;
  if (outcome.isCancelled) {
    budget.end();
    const what = JSON.stringify(rule.messageExpression);
    return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${what}`;
  }
  if (typeof outcome.value !== "string") return undefined;
  const text = outcome.value.trim();
  return text === "" || text.includes("\n") || text.length > 5120 ? undefined : text;
}

function runtimeError(error: string, rule: CelRule): string {
  const what = shownAs(rule);
  if (error.startsWith("no such overload")) {
    const why = "call arguments did not match a supported operator, function or macro signature for rule";
    return `'${error.startsWith("no such overload: sum") ? error : "no such overload"}': ${why}: ${what}`;
  }
  return `${error} evaluating rule: ${what}`;
}

/** Rewrites an error in the words of the server's interpreter. */
export function words(error: unknown): string {
  const text = (error as { readonly summary?: string }).summary ?? (error as Error).message;
  const index = /index (-?\d+) (?:>= size|< 0)/.exec(text)?.[1];
  if (index !== undefined) return `index out of bounds: ${index}`;
  if (text.startsWith("found no matching overload")) return "no such overload";
  if (/^no such overload: (?!sum\()/.test(text)) return "no such overload";
  if (text.startsWith("integer overflow:")) return "integer overflow";
  const conversion = /^(int|uint|double)\(\) type error: cannot convert to/.exec(text)?.[1];
  if (conversion !== undefined) return `type conversion error from 'string' to '${conversion}'`;
  if (text.startsWith("bool() conversion error: ")) return "type conversion error from 'string' to 'bool'";
  return text.replace(/^No such key/, "no such key");
}
