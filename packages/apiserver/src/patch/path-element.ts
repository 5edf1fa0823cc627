/** The elements of owned paths in the form of managedFields: `f:name`, `k:{…}`, `v:…`. */
import { goJson, goQuoted } from "../field-error.ts";
import { isInteger, isNumber, parseJson } from "../numbers.ts";

export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** Returns the element of an item of a set. */
export function valueElement(value: unknown): string {
  return `v:${plainJson(value)}`;
}

/** Returns the element of an item of a list map; the order of `keys` does not matter. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  const sorted = keys.length === 1 ? keys : keys.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `k:{${sorted.map(([name, value]) => `${plainJson(name)}:${plainJson(value)}`).join(",")}}`;
}

function plainJson(value: unknown): string {
  if (typeof value === "string" && !/[<>&\u2028\u2029]/.test(value)) return JSON.stringify(value);
  if (isNumber(value)) return isInteger(value) ? String(value) : floatText(Number(value));
  return typeof value === "boolean" ? String(value) : goJson(value);
}

/** Formats a float as structured-merge-diff does: like JSON, but with two digits in the exponent. */
function floatText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value).replace(/(e[-+])(\d)$/, "$10$2");
}

export function isField(element: string): boolean {
  return element.charCodeAt(0) === 102;
}

/** Prints an element as conflicts do: `.spec`, `[name="a"]`, `[="a"]`, `[0]`. */
export function printElement(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith("f:")) return `.${rest}`;
  if (element.startsWith("i:")) return `[${rest}]`;
  const value = parseJson(rest);
  if (element.startsWith("v:")) return `[=${printValue(value)}]`;
  const keys = Object.entries(value as Readonly<Record<string, unknown>>);
  return `[${keys.map(([name, key]) => `${name}=${printValue(key)}`).join(",")}]`;
}

/** Prints a value like `value.ToString` of structured-merge-diff. */
function printValue(value: unknown): string {
  if (typeof value === "string") return goQuoted(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(",")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return fields.map(([name, field]) => `${name}=${printValue(field)}`).join("");
}

const order: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** Orders fields first, then keys, values and indexes. */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0;
  const kind = (order[a[0]!] ?? 4) - (order[b[0]!] ?? 4);
  if (kind !== 0) return kind;
  if (a.startsWith("f:")) return compareText(a, b);
  const [left, right] = [parseJson(a.slice(2)), parseJson(b.slice(2))];
  return a.startsWith("k:") ? compareKeys(left as object, right as object) : compareValues(left, right);
}

function compareKeys(a: object, b: object): number {
  const [left, right] = [Object.entries(a), Object.entries(b)];
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index];
    if (!other) return 1;
    const order = compareText(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Orders scalars: numbers, then strings, then booleans. */
function compareValues(a: unknown, b: unknown): number {
  const rank = (value: unknown): number =>
    isNumber(value) ? 0 : ["number", "string", "boolean"].indexOf(typeof value);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (isNumber(a)) return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
  return compareText(String(a), String(b));
}

/** Compares the bytes of UTF-8 as Go does, which is the order of code points. */
function compareText(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
