/** Converts strings: lengths, patterns and the formats that the API server knows. */
import type { z } from "zod";
import { checksOf, lengthsOf, unknownCheck } from "./checks.ts";
import { toRe2 } from "./re2.ts";
import { SchemaProblem, type StructuralSchema } from "./structural.ts";

/**
 * zod's formats that the API server checks too.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
 */
const serverFormats: ReadonlyMap<string, string> = new Map([
  ["email", "email"],
  ["uuid", "uuid"],
  ["guid", "uuid"],
  ["url", "uri"],
  ["datetime", "date-time"],
  ["date", "date"],
  ["ipv4", "ipv4"],
  ["ipv6", "ipv6"],
  ["cidrv4", "cidr"],
  ["cidrv6", "cidr"],
  ["mac", "mac"],
  ["hostname", "hostname"],
  ["base64", "byte"],
]);

const date = String.raw`(?:\d+Y(?:\d+M)?(?:\d+D)?|\d+M(?:\d+D)?|\d+D)`;
const seconds = String.raw`\d+(?:[.,]\d+)?S`;
const time = String.raw`(?:\d+H(?:\d+M)?(?:${seconds})?|\d+M(?:${seconds})?|${seconds})`;

/** Patterns that replace zod's own, which are lax, missing, or impossible in RE2. */
const ownPatterns: ReadonlyMap<string, string | undefined> = new Map([
  ["url", "^[A-Za-z][A-Za-z0-9+.-]*:"],
  ["duration", String.raw`^P(?:\d+W|${date}(?:T${time})?|T${time})$`],
  ["base64url", "^(?:[0-9a-zA-Z_-]{4})*(?:[0-9a-zA-Z_-]{2,3})?$"],
  ["base64", undefined],
  ["hostname", undefined],
  ["date", undefined],
  ["ipv6", undefined],
  ["cidrv6", "^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*/"],
]);

export function stringSchema(schema: z.core.$ZodString, path: string): StructuralSchema {
  if (schema._zod.def.coerce) throw coerced(path, "z.string()");
  const { min, max, rest } = lengthsOf(checksOf(schema, path));
  const patterns = new Set<string>();
  let format: string | undefined;
  for (const check of rest) {
    if (check.check !== "string_format") throw unknownCheck(path, check.check);
    const form = formatOf(check, path);
    format ??= form.format;
    if (form.pattern !== undefined) patterns.add(form.pattern);
  }
  return {
    type: "string",
    ...(format === undefined ? {} : { format }),
    ...(min === undefined ? {} : { minLength: min }),
    ...(max === undefined ? {} : { maxLength: max }),
    ...patternSchema([...patterns]),
  };
}

function patternSchema(patterns: readonly string[]): StructuralSchema {
  const [first] = patterns;
  if (first === undefined) return {};
  return patterns.length === 1 ? { pattern: first } : { allOf: patterns.map((pattern) => ({ pattern })) };
}

/** A check of a string's form, with the options that some formats have. */
interface FormatCheck {
  readonly format: string;
  readonly pattern?: RegExp | undefined;
  readonly hostname?: RegExp;
  readonly protocol?: RegExp;
  readonly normalize?: boolean;
  readonly local?: boolean;
  readonly offset?: boolean;
  readonly precision?: number | null;
}

/** Formats that JavaScript code checks beyond a pattern. */
const partlyCode = new Set(["jwt", "credit_card", "iban", "json_string"]);

function formatOf(check: FormatCheck, path: string): { readonly format?: string; readonly pattern?: string } {
  const { format, pattern } = check;
  if (format === "url") refuseUrlOptions(check, path);
  const lax = format === "datetime" && isLax(check);
  const serverFormat = lax ? undefined : serverFormats.get(format);
  const own =
    serverFormat === "date-time" && typeof check.precision !== "number" ? (check.offset ? undefined : "Z$") : null;
  const text = own !== null ? own : ownPatterns.has(format) ? ownPatterns.get(format) : pattern && re2(pattern, path);
  if (partlyCode.has(format) || (serverFormat === undefined && text === undefined)) {
    throw new SchemaProblem(path, `the API server cannot check the format "${format}": use z.string().regex(…)`);
  }
  return {
    ...(serverFormat === undefined ? {} : { format: serverFormat }),
    ...(text === undefined ? {} : { pattern: text }),
  };
}

/** Local times and times without seconds are not RFC 3339, so only the pattern describes them. */
function isLax(check: FormatCheck): boolean {
  return check.local === true || check.precision === -1;
}

function refuseUrlOptions(check: FormatCheck, path: string): void {
  if (check.hostname === undefined && check.protocol === undefined && !check.normalize) return;
  throw new SchemaProblem(
    path,
    "z.httpUrl() and the options of z.url() are not checked by the API server: use z.url().regex(/^https?:\\/\\//)",
  );
}

/** Returns the pattern for the API server. */
export function re2(pattern: RegExp, path: string): string {
  try {
    return toRe2(pattern);
  } catch (error) {
    throw new SchemaProblem(path, (error as Error).message);
  }
}

/** Makes the error for `z.coerce`. */
export function coerced(path: string, plain: string): SchemaProblem {
  return new SchemaProblem(path, `z.coerce does not happen in the API server: use ${plain}`);
}
