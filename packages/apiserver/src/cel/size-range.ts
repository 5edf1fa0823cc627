/** How large a value can become, as cel-go's estimates count it: numbers that stay within 64 bits. */

/** The smallest and the largest size. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

const most = 2 ** 64;

export const unknownSize: SizeRange = { min: 0, max: most };

export function exactly(size: number): SizeRange {
  return { min: size, max: size };
}

export function plus(one: number, other: number): number {
  return Math.min(most, one + other);
}

export function times(one: number, other: number): number {
  return one === 0 || other === 0 ? 0 : Math.min(most, one * other);
}

/** Returns the cost of visiting that many units, rounded up. */
export function units(size: number, factor: number): number {
  return Math.min(most, Math.ceil(size * factor));
}

export function sum(one: SizeRange, other: SizeRange): SizeRange {
  return { min: plus(one.min, other.min), max: plus(one.max, other.max) };
}

export function product(one: SizeRange, other: SizeRange): SizeRange {
  return { min: times(one.min, other.min), max: times(one.max, other.max) };
}

export function union(one: SizeRange, other: SizeRange): SizeRange {
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}
