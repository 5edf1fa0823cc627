/** Checks options at definition time: each option of a definition is one row of a table. */
import { keySource } from "../controller/source.ts";
import { kindWatch, type MappedWatch, type Target } from "../controller/watch.ts";
import { type Duration, parseDuration } from "../resource/duration.ts";
import type { Shape } from "../resource/handle.ts";
import { labelKeyProblem } from "../resource/label-name.ts";
import { suggestion } from "./nearest.ts";

export interface Option {
  readonly name: string;
  readonly required?: true;
  /** Returns what is wrong with a present value, as the end of a sentence; `undefined` when it is valid. */
  readonly check: (value: unknown) => string | undefined;
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

/**
 * Checks the given options against their table.
 *
 * @param subject such as `controller 'guestbook'`, for messages.
 * @throws TypeError that names the option and the value.
 */
export function checkOptions(
  given: object,
  {
    subject,
    table,
    advice = {},
  }: { subject: string; table: readonly Option[]; advice?: Readonly<Record<string, string>> },
): void {
  const names = table.map((option) => option.name);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    throw new TypeError(
      `Cannot define ${subject}: unknown option '${name}'${advice[name] === undefined ? suggestion(name, names) : `: ${advice[name]}`}`,
    );
  }
  for (const { name, required, check } of table) {
    const value = Object.hasOwn(given, name) ? (given as Readonly<Record<string, unknown>>)[name] : undefined;
    if (value === undefined) {
      if (required !== true) continue;
      throw new TypeError(
        `Cannot define ${subject}: option '${name}' is missing${advice[name] === undefined ? "" : `: ${advice[name]}`}`,
      );
    }
    const problem = check(value);
    if (problem !== undefined) throw new TypeError(`Cannot define ${subject}: option '${name}': ${problem}`);
  }
}

/** Checks for a zod schema. */
export const isSchema = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && "_zod" in value ? undefined : "expected a zod schema";

export function isFunction(value: unknown): string | undefined {
  return typeof value === "function" ? undefined : expected("a function", value);
}

/** A name becomes a field manager, a finalizer and a label, so it has at most 63 of the characters `a-z0-9.-`. */
export function isBoolean(value: unknown): string | undefined {
  return typeof value === "boolean" ? undefined : "expected true or false";
}

/** Checks a boolean or the name of a condition. */
export function isBooleanOrCondition(value: unknown): string | undefined {
  if (typeof value === "boolean") return undefined;
  return typeof value === "string" && labelKeyProblem(value) === undefined
    ? undefined
    : expected("true, false or the name of a condition, such as 'Reconciled'", value);
}

export function isName(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= 63 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(value)
    ? undefined
    : expected("a name of at most 63 characters out of a-z, 0-9, '-' and '.', such as 'guestbook'", value);
}

export function isLabelKey(value: unknown): string | undefined {
  const problem = typeof value === "string" ? labelKeyProblem(value) : "it is no text";
  return problem === undefined ? undefined : expected("the key of a label, such as 'example.com/cell'", value);
}

/** Checks a non-empty list of values of a label. */
export function isLabelValues(values: unknown): string | undefined {
  if (!Array.isArray(values) || values.length === 0) return expected("a list of values", values);
  const wrong = values.find(
    (value) =>
      typeof value !== "string" || value.length > 63 || !/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(value),
  );
  return wrong === undefined ? undefined : expected("values of a label, such as 'blue'", wrong);
}

export function isWholeNumber(least: number, most: number = Infinity): (value: unknown) => string | undefined {
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
  return (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : expected(`a whole number ${range}`, value);
}

/** Checks one of a few texts. */
export function isOneOf(texts: readonly string[]): (value: unknown) => string | undefined {
  const names = texts.map((text) => `'${text}'`).join(", ");
  return (value) => (texts.includes(value as string) ? undefined : expected(`one of ${names}`, value));
}

export function isText(value: unknown): string | undefined {
  return typeof value === "string" ? undefined : expected("a text", value);
}

/** Checks a record such as labels. */
export function isRecordOfText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return expected("an object", value);
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== "string") return `field '${name}': ${expected("a text", text)}`;
  }
  return undefined;
}

/** Checks a duration; `what` reads as in "expected more than 0". */
export function isDuration(value: unknown): string | undefined {
  try {
    return parseDuration(value as Duration, "duration") > 0 ? undefined : expected("a duration of more than 0", value);
  } catch {
    return expected("milliseconds or a duration such as '500ms', '30s', '1m30s'", value);
  }
}

/** Checks an object whose fields have a table of their own. */
export function isObjectOf(table: readonly Option[]): (value: unknown) => string | undefined {
  const names = table.map((option) => option.name);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return expected("an object", value);
    for (const [name, field] of Object.entries(value)) {
      const option = table.find((candidate) => candidate.name === name);
      if (option === undefined) return `unknown field '${name}'${suggestion(name, names)}`;
      const problem = field === undefined ? undefined : option.check(field);
      if (problem !== undefined) return `field '${name}': ${problem}`;
    }
    const missing = table.find(({ name, required }) => required && !Object.hasOwn(value, name));
    return missing && `field '${missing.name}' is missing`;
  };
}

/** Checks an object with any identifiers as names, whose fields are all checked in the same way. */
export function isRecordOf(check: (value: unknown) => string | undefined): (value: unknown) => string | undefined {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return expected("an object", value);
    for (const [name, field] of Object.entries(value)) {
      const problem = isIdentifier(name) ?? check(field);
      if (problem !== undefined) return `field '${name}': ${problem}`;
    }
    return undefined;
  };
}

/** Checks a name that becomes the label of a metric, and a part of causes and messages. */
function isIdentifier(name: string): string | undefined {
  return /^[A-Za-z][-A-Za-z0-9]{0,62}$/.test(name)
    ? undefined
    : "expected a name of letters, digits and '-', such as 'monitor'";
}

export function isListOf(check: (value: unknown) => string | undefined): (value: unknown) => string | undefined {
  return (value) => {
    if (!Array.isArray(value)) return expected("an array", value);
    for (let index = 0; index < value.length; index++) {
      const problem = check(value[index]);
      if (problem !== undefined) return `entry ${index}: ${problem}`;
    }
    return undefined;
  };
}

/** Does the same as {@link isListOf}, and requires at least one entry. */
export function isFilledListOf(check: (value: unknown) => string | undefined): (value: unknown) => string | undefined {
  const isList = isListOf(check);
  return (value) => (Array.isArray(value) && value.length === 0 ? "the list is empty" : isList(value));
}

/** Checks a handle, and rejects `watch(…)` of one. */
export function isKindHandle(value: unknown): string | undefined {
  return isKind(value) && "kind" in (value as object)
    ? undefined
    : expected("a kind such as Deployment, without watch(…)", value);
}

function isKind(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { resource } = kindWatch(value as Target<Shape>);
  return typeof resource?.apiVersion === "string" && typeof resource.kind === "string";
}

/** Checks a handle or `watch(handle, …)` without `enqueue`. */
export function isTarget(value: unknown): string | undefined {
  if (!isKind(value)) return expected("a kind such as Deployment, or watch(Deployment, { … })", value);
  return kindWatch(value as Target<Shape>).options.enqueue === undefined
    ? undefined
    : "a watch with 'enqueue' belongs into 'watches'";
}

/** Does the same as {@link isTarget} for whole objects, because all of a reconciled object is compared. */
export function isWholeTarget(value: unknown): string | undefined {
  const problem = isTarget(value);
  if (problem !== undefined) return problem;
  const { select, keep } = kindWatch(value as Target<Shape>).options;
  return select === undefined && keep === undefined ? undefined : "select and keep are for watches and reads";
}

/** Checks `watch(handle, { enqueue })` or one of `source`. */
export function isMappedWatch(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return expected("watch(kind, { enqueue }) or source.…", value);
  if (keySource(value as MappedWatch) !== undefined) return undefined;
  if (!isKind(value)) return expected("watch(kind, { enqueue }) or source.…", value);
  const { resource, options } = kindWatch(value as MappedWatch);
  return typeof options.enqueue === "function"
    ? undefined
    : `${resource.kind} needs 'enqueue' to say which keys to run: watch(${resource.kind}, { enqueue: (object) => [{ name: … }] })`;
}
