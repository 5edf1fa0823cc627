/** Conversions of numbers as cel-go does them: floats as Go prints them, and no integer beyond 64 bits. */
import type { Environment } from "@marcbachmann/cel-js";
import { goNumber } from "../field-error.ts";
import { asFloat } from "../numbers.ts";
import { canonicalTime } from "../schema/go-time.ts";

/** The names by which the interpreter finds these functions; its own functions cannot be replaced. */
export const conversions: ReadonlyMap<unknown, string> = new Map([
  ["string", "stringAsGo"],
  ["int", "intAsGo"],
  ["uint", "uintAsGo"],
  ["double", "doubleAsGo"],
  ["duration", "durationAsGo"],
  ["timestamp", "timestampAsGo"],
]);

/** Matches numbers as Go's `strconv` does; JavaScript takes more for a number, such as an empty text for 0. */
const integer = /^[+-]?\d+$/;
const unsigned = /^\d+$/;
const digits = String.raw`\d(?:_?\d)*`;
const float = new RegExp(
  `^[+-]?(?:(?:${digits}(?:\\.(?:${digits})?)?|\\.${digits})(?:e[+-]?${digits})?|inf|infinity|nan)$`,
  "i",
);
const duration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
/** The seconds that fit into 64 bits of nanoseconds. */
const longest = 9_223_372_036n;

function checkText(value: unknown, form: RegExp, type: string): void {
  if (typeof value === "string" && !form.test(value)) throw inconvertible(type);
}

function inconvertible(type: string): Error {
  return new Error(`type conversion error from 'string' to '${type}'`);
}

export function registerConversions(environment: Environment): void {
  const own = (name: string, value: unknown): unknown => environment.evaluate(`${name}(self)`, { self: value });
  environment
    .registerFunction("stringAsGo(dyn): string", (value: unknown) => {
      if (typeof value === "string") return value;
      return typeof value === "number" && Number.isFinite(value) ? goNumber(asFloat(value)) : own("string", value);
    })
    .registerFunction("intAsGo(dyn): int", (value: unknown) => {
      if (typeof value === "bigint") return value;
      checkText(value, integer, "int");
      // The interpreter does not take a sign in front of a positive number.
      if (typeof value !== "number") return own("int", typeof value === "string" ? value.replace(/^\+/, "") : value);
      if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new Error("integer overflow");
      return BigInt(Math.trunc(value));
    })
    .registerFunction("uintAsGo(dyn): uint", (value: unknown) => {
      checkText(value, unsigned, "uint");
      return own("uint", value);
    })
    .registerFunction("doubleAsGo(dyn): double", (value: unknown) => {
      checkText(value, float, "double");
      const number = own("double", typeof value === "string" ? value.replaceAll("_", "") : value);
      if (typeof value === "string" && /\d/.test(value) && !Number.isFinite(number)) throw inconvertible("double");
      return number;
    })
    .registerFunction("durationAsGo(dyn): google.protobuf.Duration", (value: unknown) => {
      checkText(value, duration, "google.protobuf.Duration");
      const text = typeof value === "string" ? value.replaceAll("μ", "µ").replace(/^([+-]?)0$/, "$10s") : value;
      const made = own("duration", text) as { readonly seconds: bigint };
      if (made.seconds > longest || made.seconds < -longest) throw inconvertible("google.protobuf.Duration");
      return made;
    })
    .registerFunction("timestampAsGo(dyn): google.protobuf.Timestamp", (value: unknown) => {
      if (typeof value !== "string") return own("timestamp", value);
      // JavaScript takes no comma in front of a fraction, and Go does.
      if (canonicalTime(value) instanceof Error) throw inconvertible("google.protobuf.Timestamp");
      return new Date(value.replace(",", "."));
    });
}
