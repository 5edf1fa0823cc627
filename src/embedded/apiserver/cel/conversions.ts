/** Conversions of numbers as cel-go does them: floats as Go prints them, and no integer beyond 64 bits. */
import type { Environment } from "@marcbachmann/cel-js";
import { goNumber } from "../field-error.ts";
import { asFloat } from "../numbers.ts";

/** The names under which the interpreter calls these functions, since its own ones cannot be replaced. */
export const conversions: ReadonlyMap<unknown, string> = new Map([
  ["string", "stringAsGo"],
  ["int", "intAsGo"],
]);

export function registerConversions(environment: Environment): void {
  const own = (name: string, value: unknown): unknown => environment.evaluate(`${name}(self)`, { self: value });
  environment
    .registerFunction("stringAsGo(dyn): string", (value: unknown) => {
      if (typeof value === "string") return value;
      return typeof value === "number" && Number.isFinite(value) ? goNumber(asFloat(value)) : own("string", value);
    })
    .registerFunction("intAsGo(dyn): int", (value: unknown) => {
      if (typeof value === "bigint") return value;
      if (typeof value !== "number") return own("int", value);
      if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new Error("integer overflow");
      return BigInt(Math.trunc(value));
    });
}
