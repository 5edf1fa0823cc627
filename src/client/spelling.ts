/** Recognises values of built-in kinds that the API server writes in another form than it received. */

/** Maps of quantities, by their names. */
const QUANTITIES: ReadonlySet<string> = new Set([
  "limits",
  "requests",
  "hard",
  "capacity",
  "allocatable",
  "default",
  "defaultRequest",
  "max",
  "min",
  "maxLimitRequestRatio",
  "podFixed",
]);
/** Fields that are quantities. */
const QUANTITY: ReadonlySet<string> = new Set([
  "sizeLimit",
  "divisor",
  "averageValue",
  "capacity",
  "maximumVolumeSize",
]);
/** Fields whose content is stored exactly as it was sent. */
const OPAQUE: ReadonlySet<string> = new Set([
  "labels",
  "annotations",
  "matchLabels",
  "nodeSelector",
  "selector",
  "data",
  "binaryData",
  "stringData",
  "parameters",
  "openAPIV3Schema",
]);

/**
 * Whether a scalar is the server's spelling of a desired one: `1` of `1000m`, a time in another zone, or no `value` of
 * an environment variable for an empty one.
 *
 * @param path the fields that lead to it, without list items
 */
export function isSpelling(live: unknown, desired: unknown, path: readonly string[]): boolean {
  const name = path.at(-1) ?? "";
  if (live === undefined) return desired === "" && name === "value";
  if (!isScalar(desired) || !isScalar(live) || path.some((part) => OPAQUE.has(part))) return false;
  const parent = path.at(-2) ?? "";
  const above = path.at(-3) ?? "";
  if (
    QUANTITY.has(name) ||
    QUANTITIES.has(parent) ||
    (name === "value" && (parent === "target" || above === "capacity"))
  ) {
    const quantity = quantityOf(desired);
    return quantity !== undefined && quantity === quantityOf(live);
  }
  return /Time(stamp)?$/.test(name) && timeOf(desired) === timeOf(live);
}

function isScalar(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i))?$/;
/** Digits after the point: the smallest quantity is a billionth. */
const PRECISION = 9;

/** A quantity in billionths; `undefined` for text that is not a quantity, and for a more precise one. */
function quantityOf(value: string | number): bigint | undefined {
  const [, sign, whole = "", fraction = "", exponent, suffix = ""] = FORM.exec(String(value)) ?? [];
  if (whole + fraction === "") return undefined;
  const binary = suffix.endsWith("i");
  const power = binary ? 0 : Number(exponent?.slice(1) ?? 3 * ("num kMGTPE".indexOf(suffix || " ") - 3));
  const shift = power + PRECISION - fraction.length;
  let amount = BigInt(whole + fraction);
  if (binary) amount <<= BigInt(10 * ("KMGTPE".indexOf(suffix[0]!) + 1));
  if (shift >= 0) amount *= 10n ** BigInt(shift);
  else {
    const divisor = 10n ** BigInt(-shift);
    if (amount % divisor !== 0n) return undefined;
    amount /= divisor;
  }
  return sign === "-" ? -amount : amount;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Milliseconds; `NaN` equals nothing. */
function timeOf(value: string | number): number {
  return typeof value === "string" && TIME.test(value) ? Date.parse(value) : Number.NaN;
}
