/** Checks options at definition time: a table has a check for each option of a definition. */
import { allowedVerbs, type Permission } from "../controller/definition.ts";
import { keySource } from "../controller/source.ts";
import { kindWatch, type MappedWatch, type Target } from "../controller/watch.ts";
import { type Duration, parseDuration } from "../resource/duration.ts";
import type { Shape } from "../resource/handle.ts";
import { isFields } from "../resource/json.ts";
import { labelKeyProblem } from "../resource/label-name.ts";
import { suggestion } from "./nearest.ts";

/** Returns the problem of a present value, as the end of a sentence; `undefined` when it is valid. */
export interface Check {
  (value: unknown): string | undefined;
  readonly isRequired?: boolean;
}

/** The options by name. */
export type OptionTable = Readonly<Record<string, Check>>;

type Advice = Readonly<Record<string, string>>;

/** The same check of an option that must not be missing. */
export function required(check: Check): Check {
  return Object.assign((value: unknown) => check(value), { isRequired: true });
}

/**
 * Checks the options of a definition.
 *
 * @param what the kind of definition in messages, such as `controller`.
 * @returns the name of the definition, such as `controller 'guestbook'`.
 * @throws TypeError that names the option and the value, or the called function when its argument has no options.
 */
export function checkOptions(
  options: unknown,
  { call, what, table, advice }: { call: string; what: string; table: OptionTable; advice?: Advice },
): string {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`Cannot call ${call}: expected an object of options`);
  }
  const subject = subjectOf(what, options);
  const fault = firstFault(options, { table, advice, noun: "option" });
  if (fault !== undefined) throw new TypeError(`Cannot define ${subject}: ${fault}`);
  return subject;
}

/** Names a definition in a message, before it is known to be valid. */
function subjectOf(what: string, options: { readonly name?: unknown; readonly for?: unknown }): string {
  if (typeof options.name === "string") return `${what} '${options.name}'`;
  if (typeof options.for === "object" && options.for !== null) {
    const kind = kindWatch(options.for as Target<Shape>).resource?.kind;
    if (typeof kind === "string") return `${what} '${kind.toLowerCase()}'`;
  }
  return `a ${what}`;
}

function firstFault(
  options: object,
  { table, advice = {}, noun }: { table: OptionTable; advice?: Advice | undefined; noun: "option" | "field" },
): string | undefined {
  const adviceOn = (name: string) => (Object.hasOwn(advice, name) ? `: ${advice[name]}` : "");
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(table, name));
  if (unknown !== undefined) {
    return `unknown ${noun} '${unknown}'${adviceOn(unknown) || suggestion(unknown, Object.keys(table))}`;
  }
  for (const [name, check] of Object.entries(table)) {
    const value = Object.hasOwn(options, name) ? (options as Readonly<Record<string, unknown>>)[name] : undefined;
    if (value === undefined) {
      if (check.isRequired) return `${noun} '${name}' is missing${adviceOn(name)}`;
      continue;
    }
    const problem = check(value);
    if (problem !== undefined) return `${noun} '${name}': ${problem}`;
  }
  return undefined;
}

/** Shows a value briefly, as an author would write it. */
function excerpt(value: unknown): string {
  if (typeof value === "string") return `'${value}'`;
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

function expected(what: string, value: unknown): string {
  return `expected ${what}, got ${excerpt(value)}`;
}

/** A zod schema. */
export function schema(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && "_zod" in value ? undefined : "expected a zod schema";
}

export function callback(value: unknown): string | undefined {
  return typeof value === "function" ? undefined : expected("a function", value);
}

export function boolean(value: unknown): string | undefined {
  return typeof value === "boolean" ? undefined : "expected true or false";
}

/** A boolean, or the name of a condition. */
export function booleanOrCondition(value: unknown): string | undefined {
  if (typeof value === "boolean") return undefined;
  return typeof value === "string" && labelKeyProblem(value) === undefined
    ? undefined
    : expected("true, false or the name of a condition, such as 'Reconciled'", value);
}

/** A name becomes a field manager, a finalizer and a label, so it has at most 63 of the characters `a-z0-9.-`. */
export function name(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= 63 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(value)
    ? undefined
    : expected("a name of at most 63 characters out of a-z, 0-9, '-' and '.', such as 'guestbook'", value);
}

export function labelKey(value: unknown): string | undefined {
  const problem = typeof value === "string" ? labelKeyProblem(value) : "it is no text";
  return problem === undefined ? undefined : expected("the key of a label, such as 'example.com/cell'", value);
}

/** A non-empty list of values of a label. */
export function labelValues(values: unknown): string | undefined {
  if (!Array.isArray(values) || values.length === 0) return expected("a list of values", values);
  const wrong = values.find(
    (value) =>
      typeof value !== "string" || value.length > 63 || !/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(value),
  );
  return wrong === undefined ? undefined : expected("values of a label, such as 'blue'", wrong);
}

export function wholeNumber(least: number, most: number = Infinity): Check {
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
  return (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : expected(`a whole number ${range}`, value);
}

/** Accepts one of a few texts. */
export function oneOf(texts: readonly string[]): Check {
  const names = texts.map((text) => `'${text}'`).join(", ");
  return (value) => (texts.includes(value as string) ? undefined : expected(`one of ${names}`, value));
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? undefined : expected("a text", value);
}

/** Accepts milliseconds, or a text such as `1m30s`. */
export function duration(value: unknown): string | undefined {
  try {
    return parseDuration(value as Duration, "duration") > 0 ? undefined : expected("a duration of more than 0", value);
  } catch {
    return expected("milliseconds or a duration such as '500ms', '30s', '1m30s'", value);
  }
}

/** Accepts an object whose fields have a table of their own. */
export function objectOf(table: OptionTable): Check {
  return (value) => (isFields(value) ? firstFault(value, { table, noun: "field" }) : expected("an object", value));
}

/** Accepts an object with any names, and checks all its fields in the same way. */
export function recordOf(check: Check): Check {
  return (value) => {
    if (!isFields(value)) return expected("an object", value);
    for (const [field, one] of Object.entries(value)) {
      const problem = check(one);
      if (problem !== undefined) return `field '${field}': ${problem}`;
    }
    return undefined;
  };
}

const NAME = /^[A-Za-z][-A-Za-z0-9]{0,62}$/;

/** Accepts a record whose names become labels of metrics, and parts of causes and messages. */
export function namedRecordOf(check: Check): Check {
  const record = recordOf(check);
  return (value) => {
    const wrong = isFields(value) ? Object.keys(value).find((field) => !NAME.test(field)) : undefined;
    return wrong === undefined
      ? record(value)
      : `field '${wrong}': expected a name of letters, digits and '-', such as 'monitor'`;
  };
}

export function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return expected("an array", value);
    for (const [index, one] of value.entries()) {
      const problem = check(one);
      if (problem !== undefined) return `entry ${index}: ${problem}`;
    }
    return undefined;
  };
}

/** Like {@link listOf}, with at least one entry. */
export function filledListOf(check: Check): Check {
  const list = listOf(check);
  return (value) => (Array.isArray(value) && value.length === 0 ? "the list is empty" : list(value));
}

/** Accepts a handle, but not `watch(…)` of one. */
export function kind(value: unknown): string | undefined {
  return isKind(value) && "kind" in (value as object)
    ? undefined
    : expected("a kind such as Deployment, without watch(…)", value);
}

function isKind(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { resource } = kindWatch(value as Target<Shape>);
  return typeof resource?.apiVersion === "string" && typeof resource.kind === "string";
}

/** A handle, or `watch(handle, …)` without `enqueue`. */
export function target(value: unknown): string | undefined {
  if (!isKind(value)) return expected("a kind such as Deployment, or watch(Deployment, { … })", value);
  return kindWatch(value as Target<Shape>).options.enqueue === undefined
    ? undefined
    : "a watch with 'enqueue' belongs into 'watches'";
}

/** Accepts a {@link target} of whole objects, because every field of a reconciled object is compared. */
export function wholeTarget(value: unknown): string | undefined {
  const problem = target(value);
  if (problem !== undefined) return problem;
  const { select, keep } = kindWatch(value as Target<Shape>).options;
  return select === undefined && keep === undefined ? undefined : "select and keep are for watches and reads";
}

/** Accepts `watch(handle, { enqueue })`, or a source of `source`. */
export function mappedWatch(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return expected("watch(kind, { enqueue }) or source.…", value);
  if (keySource(value as MappedWatch) !== undefined) return undefined;
  if (!isKind(value)) return expected("watch(kind, { enqueue }) or source.…", value);
  const { resource, options } = kindWatch(value as MappedWatch);
  return typeof options.enqueue === "function"
    ? undefined
    : `${resource.kind} needs 'enqueue' to say which keys to run: watch(${resource.kind}, { enqueue: (object) => [{ name: … }] })`;
}

/** An entry of `uses`. */
export function permission(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !Array.isArray(allowedVerbs(value as Permission).verbs)) {
    return 'expected allow(kind, "verb", …)';
  }
  const { resource, verbs, names } = allowedVerbs(value as Permission);
  const unnamed = names && verbs.find((verb) => /^(create|deletecollection)$/.test(verb));
  if (names?.length === 0) return `allow(${resource.kind}, …) has no names: leave them out, or name one`;
  if (unnamed !== undefined) {
    return `allow(${resource.kind}, "${unnamed}", { names }): RBAC cannot narrow it to names, because such a request has none`;
  }
  const isRole = resource.group === "rbac.authorization.k8s.io" && /^(Cluster)?Role$/.test(resource.kind);
  const misplaced = isRole ? undefined : verbs.find((verb) => verb === "bind" || verb === "escalate");
  return (
    misplaced && `allow(${resource.kind}, "${misplaced}"): only a Role or a ClusterRole can be bound and escalated`
  );
}
