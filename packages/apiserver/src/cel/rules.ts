/** Evaluates the rules of a schema, `x-kubernetes-validations`, on an object. */
import type { Environment } from "@marcbachmann/cel-js";
import { errorText, type FieldError, type FieldErrorType } from "../field-error.ts";
import { equalValues } from "../patch/typed-values.ts";
import { celEnvironment, optionalEnvironment } from "./environment.ts";
import { matchAsGo } from "./matches.ts";
import { withoutLeadingDots } from "./tokens.ts";
import { celLibrary } from "./library.ts";
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
  visit(schema, object, { old, path: "", root: true, errors, warn });
  return errors;
}

/** The objects and lists that fulfil the rules of their schema, so that a change elsewhere does not run these again. */
const sound = new WeakMap<Schema, WeakSet<object>>();

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
}

function visit(schema: Schema, value: unknown, place: Place): void {
  if (value === null || value === undefined || !hasRules(schema)) return;
  if (schema.values?.rules) run(schema, value, place);
  const { old, path, errors, warn } = place;
  if (Array.isArray(value)) {
    if (!schema.items) return;
    const before = schema.listType === "map" && Array.isArray(old) ? byKeys(old, schema.listKeys) : undefined;
    const isSame = before === undefined && Array.isArray(old) && equalValues(old, value);
    for (const [index, item] of value.entries()) {
      // An item of a list without keys has an old value only if the whole list is unchanged.
      const same = isSame ? (old as unknown[])[index] : before?.get(keyOf(item, schema.listKeys));
      visit(schema.items, item, { old: same, path: `${path}[${index}]`, root: false, errors, warn });
    }
  } else if (typeof value === "object") {
    const before = typeof old === "object" && old !== null ? (old as Readonly<Record<string, unknown>>) : {};
    for (const [name, field] of Object.entries(value)) {
      const property = schema.properties?.get(name);
      const inner = property ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`;
      const next = property ?? schema.additional;
      const same = Object.hasOwn(before, name) ? before[name] : undefined;
      if (next) visit(next, field, { old: same, path: inner, root: false, errors, warn });
    }
  }
}

interface Program {
  readonly usesOld: boolean;
  readonly error: string | undefined;
  readonly run: (context: Readonly<Record<string, unknown>>) => unknown;
}

const programs = new Map<string, Program>();

/** Limits the cache, because definitions come and go; each has few expressions. */
const mostPrograms = 2000;

function program(expression: string, optionalOldSelf: boolean | undefined): Program {
  const key = optionalOldSelf === true ? `?${expression}` : expression;
  const known = programs.get(key);
  if (known) return known;
  if (programs.size >= mostPrograms) programs.clear();
  const compilation = compile(expression, optionalOldSelf === true ? optionalEnvironment() : celEnvironment());
  programs.set(key, compilation);
  return compilation;
}

function compile(expression: string, environment: Environment): Program {
  const usesOld = usesOldSelf(expression);
  try {
    const parsed = environment.parse(withoutLeadingDots(expression));
    matchAsGo(parsed.ast);
    return { usesOld, error: undefined, run: (context) => parsed(context) as unknown };
  } catch (error) {
    return { usesOld, error: words(error), run: () => false };
  }
}

/** Looks for the name outside of string literals. */
export function usesOldSelf(expression: string): boolean {
  return /\boldSelf\b/.test(expression.replace(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)/g, ""));
}

function run(schema: Schema, value: unknown, { old, path, root, errors, warn }: Place): void {
  const place = path === "" ? "<nil>" : path;
  const unchanged = old !== undefined && old !== null && equalValues(old, value);
  const known = getOrInsert(sound, schema, () => new WeakSet());
  const isSound = unchanged && typeof old === "object" && known.has(old);
  let isBroken = false;
  /** Rejects the object, or only warns when the broken part is unchanged and the rule does not read the old value. */
  const report = (error: FieldError, usesOld: boolean): void => {
    if (!usesOld) isBroken = true;
    if (unchanged && !usesOld) warn?.(errorText(error));
    else errors.push(error);
  };
  const convert = (one: unknown): unknown =>
    root ? toCelRoot(one as Readonly<Record<string, unknown>>, schema) : toCel(one, schema);
  let self: unknown;
  for (const rule of schema.values!.rules!) {
    const { usesOld, error, run: evaluate } = program(rule.rule, rule.optionalOldSelf);
    const invalid = (detail: string): void =>
      report({ type: "Invalid", field: place, badValue: schema.type, detail }, usesOld);
    if (error !== undefined) {
      invalid(`rule compile error: ${error}`);
      continue;
    }
    const hasOld = old !== undefined && old !== null;
    if (usesOld && !hasOld && !rule.optionalOldSelf) continue;
    if (!usesOld && isSound) continue;
    const context: Record<string, unknown> = {};
    try {
      context.self = self ??= convert(value);
      if (usesOld) context.oldSelf = oldValue(rule, hasOld ? convert(old) : undefined);
      if (evaluate(context) === true) continue;
    } catch (problem) {
      invalid(runtimeError(words(problem), rule));
      continue;
    }
    report(broken(rule, { schema, value, path, context }), usesOld);
  }
  if (!isBroken && typeof value === "object" && value !== null) known.add(value);
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
  readonly context: Readonly<Record<string, unknown>>;
}

const reasons: Readonly<Record<string, FieldErrorType>> = {
  FieldValueForbidden: "Forbidden",
  FieldValueRequired: "Required",
  FieldValueDuplicate: "Duplicate",
};

function broken(rule: CelRule, { schema, value, path, context }: Broken): FieldError {
  const field = path + ruleField(rule.fieldPath, schema, path);
  const detail = messageOf(rule, context) ?? (rule.message?.trim() || `failed rule: ${rule.rule.trim()}`);
  const type = reasons[rule.reason ?? ""] ?? "Invalid";
  const whole = schema.type === "object" || schema.type === "array";
  const place = field === "" ? "<nil>" : field;
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

/** Evaluates `messageExpression`; `undefined` when its result cannot be used. */
function messageOf(rule: CelRule, context: Readonly<Record<string, unknown>>): string | undefined {
  if (!rule.messageExpression) return undefined;
  try {
    const message = program(rule.messageExpression, rule.optionalOldSelf).run(context);
    if (typeof message !== "string") return undefined;
    const text = message.trim();
    return text === "" || text.includes("\n") || text.length > 5120 ? undefined : text;
  } catch {
    return undefined;
  }
}

function runtimeError(error: string, rule: CelRule): string {
  const what = rule.message?.trim() || rule.rule.trim();
  if (error.startsWith("no such overload")) {
    const why = "call arguments did not match a supported operator, function or macro signature for rule";
    return `'${error.startsWith("no such overload: sum") ? error : "no such overload"}': ${why}: ${what}`;
  }
  return `${error} evaluating rule: ${what}`;
}

/** Rewrites an error in the words of the server's interpreter. */
export function words(error: unknown): string {
  const text = (error as { readonly summary?: string }).summary ?? (error as Error).message;
  const index = /index (-?\d+) >= size/.exec(text)?.[1];
  if (index !== undefined) return `index out of bounds: ${index}`;
  if (text.startsWith("found no matching overload")) return "no such overload";
  if (/^no such overload: (?!sum\()/.test(text)) return "no such overload";
  if (text.startsWith("integer overflow:")) return "integer overflow";
  const conversion = /^(int|uint|double)\(\) type error: cannot convert to/.exec(text)?.[1];
  if (conversion !== undefined) return `type conversion error from 'string' to '${conversion}'`;
  if (text.startsWith("bool() conversion error: ")) return "type conversion error from 'string' to 'bool'";
  return text.replace(/^No such key/, "no such key");
}
