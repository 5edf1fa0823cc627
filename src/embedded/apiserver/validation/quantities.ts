/** Compares quantities. */
import { compareQuantities, parseQuantity } from "../schema/quantity.ts";

/** Returns a negative number, 0 or a positive number: the order of two quantities; 0 where one is invalid. */
export function quantityOrder(left: unknown, right: unknown): number {
  const [one, other] = [parseQuantity(String(left)), parseQuantity(String(right))];
  if (one instanceof Error || other instanceof Error) return 0;
  return compareQuantities(one, other);
}

export function isNegative(quantity: unknown): boolean {
  return quantityOrder(quantity, "0") < 0;
}
