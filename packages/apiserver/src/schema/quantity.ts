/** Quantities. @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */

export interface Quantity {
  /** The value in units of 10^-9, rounded away from zero. */
  readonly nanos: bigint;
  readonly format: "decimal" | "binary" | "exponent";
}

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
/** The expression of the error message, made linear: no digit of the number can also belong to the exponent. */
const shape = /^([+-]?[0-9.]+)(?![0-9.])([eEinumkKMGTP]*[-+]?[0-9]*)$/;

const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

const billion = 1_000_000_000n;

/** Parses a quantity. @returns the server's error when it is invalid */
export function parseQuantity(text: string): Quantity | Error {
  if (text === "") return new Error(wrongFormat);
  const [, number, suffix] = shape.exec(text) ?? [];
  if (number === undefined || suffix === undefined) return new Error(wrongFormat);
  const [, sign, whole = "", fraction = ""] = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(number) ?? [];
  if (sign === undefined) return new Error(wrongFormat);
  if (whole === "" && fraction === "") return new Error(wrongFormat);
  const scale = suffixScale(suffix);
  if (!scale) return new Error("unable to parse quantity's suffix");
  const digits = BigInt(whole + fraction) * (sign === "-" ? -1n : 1n) * 2n ** BigInt(scale.two);
  const exponent = scale.ten - fraction.length + 9;
  const nanos = exponent >= 0 ? digits * 10n ** BigInt(exponent) : divideAway(digits, 10n ** BigInt(-exponent));
  return { nanos, format: scale.format };
}

function suffixScale(suffix: string): { two: number; ten: number; format: Quantity["format"] } | undefined {
  if (Object.hasOwn(decimal, suffix)) return { two: 0, ten: decimal[suffix]!, format: "decimal" };
  if (Object.hasOwn(binary, suffix)) return { two: binary[suffix]!, ten: 0, format: "binary" };
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1];
  if (exponent === undefined || Math.abs(Number(exponent)) > 1000) return undefined;
  return { two: 0, ten: Number(exponent), format: "exponent" };
}

function divideAway(value: bigint, by: bigint): bigint {
  const rest = value % by;
  return value / by + (rest === 0n ? 0n : rest > 0n ? 1n : -1n);
}

/** Formats a quantity as the server does: with the largest suffix that leaves no fraction. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return "0";
  const small = nanos > -1024n * billion && nanos < 1024n * billion;
  if (format === "binary" && !small && nanos % billion === 0n) {
    let value = nanos / billion;
    let power = 0;
    while (value % 1024n === 0n && power < 6) {
      value /= 1024n;
      power++;
    }
    return `${value}${["", ...Object.keys(binary)][power]}`;
  }
  let value = nanos;
  let power = -9;
  const highest = format === "exponent" ? Infinity : 18;
  while (value % 1000n === 0n && power < highest) {
    value /= 1000n;
    power += 3;
  }
  if (format === "exponent") return power === 0 ? String(value) : `${value}e${power}`;
  return `${value}${Object.keys(decimal).find((suffix) => decimal[suffix] === power)}`;
}

const million = 1_000_000n;

/** Rounds a formatted quantity up to thousandths, as the server does with the amounts of resources. */
export function roundedToMilli(text: string): string {
  // Only a text with these may be finer.
  if (!/[nue]|\.\d{4}/.test(text)) return text;
  const parsed = parseQuantity(text);
  if (parsed instanceof Error || parsed.nanos % million === 0n) return text;
  return formatQuantity({ ...parsed, nanos: divideAway(parsed.nanos, million) * million });
}

export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}
