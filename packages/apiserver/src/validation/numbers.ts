/** Validates numbers and percentages. */
import type { Field } from "./field.ts";
import { percent } from "./formats.ts";

/** Requires a number that is not negative, or a percentage. */
export function intOrPercent(field: Field): void {
  if (typeof field.value === "string") field.matches(percent);
  else field.nonNegative();
}

/** Requires at most 100 %. */
export function notMoreThanAll(field: Field): void {
  const text = typeof field.value === "string" ? field.value : "";
  if (/^\d+%$/.test(text) && Number.parseInt(text, 10) > 100) field.invalid("must not be greater than 100%", text);
}

/** Returns the number of a percentage or a number. */
export function amount(value: unknown): number {
  return typeof value === "string" ? Number.parseInt(value, 10) || 0 : Number(value ?? 0);
}
