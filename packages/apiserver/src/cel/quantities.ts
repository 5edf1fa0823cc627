/** Quantities in rules. */
import type { Environment } from "@marcbachmann/cel-js";
import { compareQuantities, parseQuantity, type Quantity } from "../schema/quantity.ts";

class QuantityValue {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

const billion = 1_000_000_000n;

export function registerQuantities(environment: Environment): void {
  environment.registerType("Quantity", { ctor: QuantityValue, fields: {} });
  const value = (nanos: bigint, like: QuantityValue) => new QuantityValue({ nanos, format: like.quantity.format });
  const other = (operand: QuantityValue | bigint): bigint =>
    typeof operand === "bigint" ? operand * billion : operand.quantity.nanos;
  environment
    .registerFunction("quantity(string): Quantity", (text: string) => {
      const parsed = parseQuantity(text);
      if (parsed instanceof Error) throw parsed;
      return new QuantityValue(parsed);
    })
    .registerFunction("isQuantity(string): bool", (text: string) => !(parseQuantity(text) instanceof Error))
    .registerFunction("Quantity.isInteger(): bool", ({ quantity }: QuantityValue) => quantity.nanos % billion === 0n)
    .registerFunction("Quantity.asInteger(): int", ({ quantity }: QuantityValue) => {
      if (quantity.nanos % billion !== 0n) throw new Error("cannot convert value to integer");
      return quantity.nanos / billion;
    })
    .registerFunction(
      "Quantity.asApproximateFloat(): double",
      ({ quantity }: QuantityValue) => Number(quantity.nanos) / 1e9,
    )
    .registerFunction("Quantity.isLessThan(Quantity): bool", (a: QuantityValue, b: QuantityValue) => order(a, b) < 0)
    .registerFunction("Quantity.isGreaterThan(Quantity): bool", (a: QuantityValue, b: QuantityValue) => order(a, b) > 0)
    .registerFunction("Quantity.compareTo(Quantity): int", (a: QuantityValue, b: QuantityValue) => BigInt(order(a, b)))
    .registerOperator("Quantity == Quantity", (a: QuantityValue, b: QuantityValue) => order(a, b) === 0);
  for (const type of ["Quantity", "int"]) {
    environment
      .registerFunction(`Quantity.add(${type}): Quantity`, (a: QuantityValue, b: QuantityValue | bigint) =>
        value(a.quantity.nanos + other(b), a),
      )
      .registerFunction(`Quantity.sub(${type}): Quantity`, (a: QuantityValue, b: QuantityValue | bigint) =>
        value(a.quantity.nanos - other(b), a),
      );
  }
}

function order(a: QuantityValue, b: QuantityValue): number {
  return compareQuantities(a.quantity, b.quantity);
}
