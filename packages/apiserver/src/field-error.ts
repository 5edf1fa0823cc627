/** Errors of fields in the words of Kubernetes. */
import { isFloat, isInteger, isNumber, writeJson } from "./numbers.ts";

export type FieldErrorType =
  | "Required"
  | "Invalid"
  | "TypeInvalid"
  | "NotSupported"
  | "Duplicate"
  | "Forbidden"
  | "TooLong"
  | "TooShort"
  | "TooMany"
  | "TooFew"
  | "NotFound"
  | "Internal";

/** An error of one field. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** The path, such as `spec.containers[0].name`. */
  readonly field: string;
  /** The invalid value; the message omits `undefined`. Use `null` for Go's nil. */
  readonly badValue?: unknown;
  readonly detail: string;
}

const words: Readonly<Record<FieldErrorType, string>> = {
  Required: "Required value",
  Invalid: "Invalid value",
  TypeInvalid: "Invalid value",
  NotSupported: "Unsupported value",
  Duplicate: "Duplicate value",
  Forbidden: "Forbidden",
  TooLong: "Too long",
  TooShort: "Too short",
  TooMany: "Too many",
  TooFew: "Too few",
  NotFound: "Not found",
  Internal: "Internal error",
};

const withoutValue: ReadonlySet<FieldErrorType> = new Set(["Required", "Forbidden", "TooLong", "TooShort", "Internal"]);

/** Returns the reason of the cause in a `Status`. */
export function causeReason(type: FieldErrorType): string {
  return type === "Internal" ? "InternalError" : `FieldValue${type}`;
}

/** Returns the message without the field. */
export function errorBody(error: FieldError): string {
  const { type, badValue, detail } = error;
  const value = withoutValue.has(type) || badValue === undefined ? "" : `: ${quoted(badValue)}`;
  return `${words[type]}${value}${detail === "" ? "" : `: ${detail}`}`;
}

/** Returns `field: message`. */
export function errorText(error: FieldError): string {
  return `${error.field}: ${errorBody(error)}`;
}

/** Makes a `NotSupported` error that lists the supported values in the given order. */
export function notSupported(
  field: string,
  badValue: unknown,
  { valid, sorted: isSorted = false }: { readonly valid: readonly string[]; readonly sorted?: boolean },
): FieldError {
  const values = isSorted ? valid.toSorted() : valid;
  const detail = valid.length === 0 ? "" : `supported values: ${values.map((value) => goQuoted(value)).join(", ")}`;
  return { type: "NotSupported", field, badValue, detail };
}

function quoted(value: unknown): string {
  if (typeof value === "string") return goQuoted(value);
  if (isNumber(value)) return goNumber(value);
  return goJson(value);
}

/** Formats a number like Go's `%v`: floats get an exponent from a million on, and from the fifth decimal place on. */
export function goNumber(value: unknown): string {
  if (isInteger(value)) return String(value);
  const float = Number(value);
  if (!Number.isFinite(float)) return String(float);
  const [mantissa = "", power = ""] = float.toExponential().split("e");
  if (Number(power) >= -4 && Number(power) < 6) return Object.is(float, -0) ? "-0" : String(float);
  return `${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

/** Quotes a text like Go's `%q`. */
export function goQuoted(text: string): string {
  let quotedText = '"';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === "\\") quotedText += `\\${character}`;
    else if (code >= 0x20 && code < 0x7f) quotedText += character;
    else quotedText += unprintable(character, code);
  }
  return `${quotedText}"`;
}

const short: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
};

function unprintable(character: string, code: number): string {
  const known = short[code];
  if (known !== undefined) return known;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character)) return character;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Encodes JSON as Go does: `<`, `>` and `&` are escaped, keys of maps are sorted. */
export function goJson(value: unknown): string {
  return writeJson(sorted(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || isFloat(value)) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(fields)
      .toSorted()
      .map((name) => [name, sorted(fields[name])]),
  );
}
