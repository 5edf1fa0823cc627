/** Go types that decode themselves. */
import { canonicalMicroTime, canonicalTime } from "./go-time.ts";
import { isNumber, writeJson } from "../numbers.ts";
import { withoutNumberTexts } from "./number-text.ts";
import { formatQuantity, parseQuantity } from "./quantity.ts";
import type { OwnType, Schema } from "./schema.ts";

/** A value whose JSON type differs from its Go type. */
export class TypeMismatch {
  /** The value in messages, such as `string` or `number 1.5`. */
  readonly value: string;
  readonly type: string;

  constructor(value: string, type: string) {
    this.value = value;
    this.type = type;
  }
}

/** Stops decoding, because Go reports no other error besides it. */
export class HardError extends Error {
  constructor(cause: Error | TypeMismatch) {
    super("cannot be decoded", { cause });
  }
}

export interface OwnContext {
  readonly type: string;
  readonly parent: Schema | undefined;
  readonly decodeAs: (schema: Schema, value: unknown) => unknown;
}

/** Returns the non-null value as Go would encode it again. @throws HardError */
export function canonical(own: OwnType, value: unknown, context: OwnContext): unknown {
  switch (own) {
    case "time":
      return orThrow(canonicalTime(text(value)));
    case "microTime":
      return orThrow(canonicalMicroTime(text(value)));
    case "quantity": {
      return rewrittenQuantity(typeof value === "string" ? value.trim() : writeJson(value));
    }
    case "intOrString":
      return intOrString(value);
    case "schemaOrBool":
      if (typeof value === "boolean") return value;
      if (isObject(value)) return asSchema(value, context);
      throw new HardError(new Error("boolean or JSON schema expected"));
    case "schemaOrArray":
      return Array.isArray(value) ? value.map((item) => asSchema(item, context)) : asSchema(value, context);
    case "schemaOrStrings":
      return Array.isArray(value) ? withoutNumberTexts(value) : asSchema(value, context);
    default:
      return withoutNumberTexts(value);
  }
}

/** Rewrites a quantity as Go does. A text that cannot be shorter stays: `01Ki`, `+1`, `1E3`. */
function rewrittenQuantity(text: string): string {
  const written = formatQuantity(orThrow(parseQuantity(text)));
  if (written === text) return text;
  const [, whole, fraction = "", binary] =
    /^[+-]?(\d{1,18})(?:\.(\d{1,18}))?(?:([KMGTPE])i|[a-zA-Z]?|[eE][+-]?\d+)$/.exec(text) ?? [];
  if (whole === undefined) return written;
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits.length > 18 || /\d+/.exec(written)?.[0] !== digits) return written;
  const isExact = binary === undefined || digits.length + 3 * ("KMGTPE".indexOf(binary) + 1) <= 14;
  return isExact ? text : written;
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new HardError(new TypeMismatch(kindOf(value), "string"));
}

function intOrString(value: unknown): unknown {
  if (typeof value === "string") return value;
  if (!isNumber(value)) throw new HardError(new TypeMismatch(kindOf(value), "int32"));
  if (Number.isInteger(value) && Math.abs(value as number) < 2 ** 31) return value;
  throw new HardError(new TypeMismatch(`number ${String(value)}`, "int32"));
}

/** These types occur only in the schema's own type, so their content has the type of their container. */
function asSchema(value: unknown, { parent, decodeAs }: OwnContext): unknown {
  return parent && isObject(value) ? decodeAs(parent, value) : value;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function orThrow<T>(value: T | Error): T {
  if (value instanceof Error) throw new HardError(value);
  return value;
}
