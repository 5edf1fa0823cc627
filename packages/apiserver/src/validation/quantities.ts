/** Compares quantities. */
import { compareQuantities, parseQuantity } from "../schema/quantity.ts";

/**
 * Returns the order of two quantities: a negative number, 0 or a positive number. It is 0 when one of them is invalid.
 */
export function quantityOrder(left: unknown, right: unknown): number {
  const [one, other] = [parseQuantity(String(left)), parseQuantity(String(right))];
  if (one instanceof Error || other instanceof Error) return 0;
  return compareQuantities(one, other);
}

export function isNegative(quantity: unknown): boolean {
  return quantityOrder(quantity, "0") < 0;
}

/** Returns a quantity as a number, which may be less precise; `NaN` when it is invalid. */
export function quantityNumber(quantity: unknown): number {
  const parsed = parseQuantity(String(quantity));
  return parsed instanceof Error ? NaN : Number(parsed.nanos) / 1e9;
}
