/** Storage is counted in whole bytes. */
import type { Quantity } from "../../schema/quantity.ts";

const billion = 1_000_000_000n;

/** Rounded up to a whole number. */
export function wholeOf(quantity: Quantity | undefined): Quantity | undefined {
  if (quantity === undefined || quantity.nanos % billion === 0n) return quantity;
  return { ...quantity, nanos: (quantity.nanos / billion + 1n) * billion };
}
