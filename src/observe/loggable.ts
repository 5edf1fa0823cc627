/** Converts any value to one that can be logged: finite, plain, and without secrets. */

const MAX_DEPTH = 12;
/**
 * The maximum length of a text: container runtimes split lines at 16 KiB, and texts from a server are otherwise
 * unlimited.
 */
const MAX_TEXT = 16_384;
/** The maximum length of an error's message. */
const MAX_MESSAGE = 4_096;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** Replaces a value of a Secret. */
const REDACTED = "[redacted]";

/** The property of an object whose value is logged in place of the object. */
export const LOGGED_AS: unique symbol = Symbol.for("binnacle.loggedAs");

/**
 * Returns a plain copy for `JSON.stringify`: errors become `{ name, message, stack, cause }`, Maps and Sets are
 * expanded, cycles cut, and values of Secrets replaced, also those in lists and in kubectl's copy of the object.
 *
 * @param clean is applied to each text before long ones are cut.
 */
export function loggable(value: unknown, clean: Clean = asItIs): unknown {
  return plain(value, { secret: false, within: [], clean });
}

type Clean = (text: string) => string;
const asItIs: Clean = (text) => text;

interface Position {
  /** Whether the value is inside a list of Secrets, whose items have no kind. */
  readonly secret: boolean;
  readonly within: readonly object[];
  readonly clean: Clean;
}

function plain(value: unknown, at: Position): unknown {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "function":
      return `[function ${value.name}]`;
    case "symbol":
      return value.toString();
    case "object":
      return value === null ? null : readable(value, at);
    case "string":
      return shortened(at.clean(value), MAX_TEXT);
    default:
      return value;
  }
}

/** Getters and proxies may throw, which is no reason to lose the line. */
function readable(value: object, at: Position): unknown {
  try {
    return plainObject(value, at);
  } catch {
    return "[unreadable]";
  }
}

function plainObject(value: object, at: Position): unknown {
  if (at.within.includes(value)) return "[circular]";
  if (at.within.length >= MAX_DEPTH) return "[too deep]";
  const inner: Position = { secret: false, within: [...at.within, value], clean: at.clean };
  if (value instanceof Error) return plainError(value, inner);
  if (Array.isArray(value)) return value.map((item) => plain(item, { ...inner, secret: at.secret }));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (value instanceof Map) {
    return plainEntries(
      [...value].map(([key, item]) => [String(key), item]),
      inner,
    );
  }
  if (value instanceof Set) return [...value].map((item) => plain(item, inner));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (LOGGED_AS in value) return plain(value[LOGGED_AS], inner);
  const kind = "kind" in value ? value.kind : undefined;
  if (kind === "Secret" || (at.secret && kind === undefined)) return plainSecret(value, inner);
  return plainEntries(Object.entries(value), { ...inner, secret: kind === "SecretList" });
}

function plainEntries(entries: readonly (readonly [string, unknown])[], at: Position): object {
  const out: Record<string, unknown> = {};
  for (const [name, item] of entries) {
    // Only the `items` of a list are objects of its kind.
    out[at.clean(name)] = plain(item, at.secret && name !== "items" ? { ...at, secret: false } : at);
  }
  return out;
}

function plainSecret(value: object, at: Position): object {
  const out: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const hidden = name === "data" || name === "stringData";
    out[name] = hidden ? redactedValues(item) : plain(item, at);
  }
  const { annotations } = (out["metadata"] ?? {}) as { annotations?: Record<string, unknown> };
  if (annotations?.[LAST_APPLIED] !== undefined) annotations[LAST_APPLIED] = REDACTED;
  return out;
}

function redactedValues(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return REDACTED;
  return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]));
}

function plainError(error: Error, at: Position): object {
  const message = shortened(at.clean(error.message), MAX_MESSAGE);
  const out: Record<string, unknown> = { name: shortened(at.clean(error.name), MAX_MESSAGE), message };
  if ("code" in error && (typeof error.code === "string" || typeof error.code === "number")) out["code"] = error.code;
  // A stack begins with the message, of which only the places are needed.
  const stack = (error.stack ?? `${error.name}: ${error.message}`).replace(error.message, () => message);
  out["stack"] = shortened(at.clean(stack), MAX_TEXT);
  if (error.cause !== undefined) out["cause"] = plain(error.cause, at);
  if (error instanceof AggregateError) out["errors"] = error.errors.map((one: unknown) => plain(one, at));
  return out;
}

/**
 * Returns the beginning of a text that is too long, and the length of the omitted part. Any other value stays as it is.
 */
export function shortened<T>(text: T, most: number): T | string {
  if (typeof text !== "string" || text.length <= most) return text;
  return `${text.slice(0, most)}… (${text.length - most} more characters)`;
}
