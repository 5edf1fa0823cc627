/** Resolves the text of a scalar to a value. */
import { goQuoted } from "../field-error.ts";
import { YamlError } from "./cursor.ts";

/** `float` is a number that Go treats as one; its text as a key differs from that of an integer. */
export type ScalarType = "null" | "bool" | "int" | "float" | "str" | "merge" | "timestamp" | "binary" | "other";

export interface Scalar {
  readonly type: ScalarType;
  readonly value: string | number | bigint | boolean | null;
}

const prefix = "tag:yaml.org,2002:";
const typed: ReadonlySet<string> = new Set(["str", "bool", "int", "float", "null", "timestamp"]);
const words = new Map<string, Scalar>([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word): [string, Scalar] => [
    word,
    { type: "bool", value: true },
  ]),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word): [string, Scalar] => [
    word,
    { type: "bool", value: false },
  ]),
  ...["", "~", "null", "Null", "NULL"].map((word): [string, Scalar] => [word, { type: "null", value: null }]),
  ...[".nan", ".NaN", ".NAN"].map((word): [string, Scalar] => [word, { type: "float", value: Number.NaN }]),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word): [string, Scalar] => [
    word,
    { type: "float", value: Infinity },
  ]),
  ...["-.inf", "-.Inf", "-.INF"].map((word): [string, Scalar] => [word, { type: "float", value: -Infinity }]),
  ["<<", { type: "merge", value: "<<" }],
]);

/** Resolves a scalar. @param tag `""` when none was written. @throws YamlError when the text does not fit the tag's type */
export function scalarValue(tag: string, text: string): Scalar {
  const name = tag.startsWith(prefix) ? tag.slice(prefix.length) : tag;
  if (tag !== "" && !(tag.startsWith(prefix) && typed.has(name))) return other(name, tag, text);
  if (name === "str") return { type: "str", value: text };
  const found = untyped(text, name === "" || name === "timestamp");
  if (name === "" || found.type === name) return found;
  if (name === "float" && found.type === "int") return { type: "float", value: Number(found.value) };
  throw new YamlError(`cannot decode !!${found.type} \`${text}\` as a !!${name}`);
}

function other(name: string, tag: string, text: string): Scalar {
  if (tag !== `${prefix}binary`) return { type: "other", value: text };
  const plain = text.replaceAll(/[\r\n]/g, "");
  if (!/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(plain))
    throw new YamlError("!!binary value contains invalid base64 data");
  return { type: "binary", value: Buffer.from(plain, "base64").toString() };
}

function untyped(text: string, mayBeTime: boolean): Scalar {
  const word = words.get(text);
  if (word !== undefined && (text === "" || /^[-+.yYnNtTfFoO~<]/.test(text))) return word;
  if (text.startsWith(".")) return floatOf(text) ?? { type: "str", value: text };
  if (!/^[-+0-9]/.test(text)) return { type: "str", value: text };
  if (mayBeTime && isTime(text)) return { type: "timestamp", value: text };
  return numberOf(text.replaceAll("_", ""), text) ?? { type: "str", value: text };
}

function floatOf(text: string): Scalar | undefined {
  const value = /^\.[0-9]+([eE][-+]?[0-9]+)?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? { type: "float", value } : undefined;
}

const forms: readonly (readonly [form: RegExp, base: string])[] = [
  [/^([-+]?)0[xX]([0-9a-fA-F]+)$/, "0x"],
  [/^([-+]?)0[bB]([01]+)$/, "0b"],
  [/^([-+]?)0[oO]?([0-7]+)$/, "0o"],
  [/^([-+]?)(0|[1-9][0-9]*)$/, ""],
];

function numberOf(plain: string, text: string): Scalar | undefined {
  for (const [form, base] of forms) {
    const match = form.exec(plain);
    if (match === null) continue;
    const size = BigInt(base + (match[2] ?? ""));
    const value = match[1] === "-" ? -size : size;
    if (value >= -(2n ** 63n) && value < 2n ** 63n) return { type: "int", value: exact(value) };
    if (match[1] === "" && value < 2n ** 64n) return { type: "int", value };
    break;
  }
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) && text !== "" ? { type: "float", value } : undefined;
}

function exact(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

const time = /^\d{4}-(\d\d?)-(\d\d?)(?:([Tt ])(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?(Z|[-+]\d\d:\d\d)?)?$/;

function isTime(text: string): boolean {
  const match = time.exec(text);
  if (match === null) return false;
  const [, month, day, separator, hour, minute, second, zone] = match;
  if (separator === " " ? zone !== undefined : separator !== undefined && zone === undefined) return false;
  const inMonth = new Date(Date.UTC(Number(text.slice(0, 4)), Number(month), 0)).getUTCDate();
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > inMonth) return false;
  return Number(hour ?? 0) < 24 && Number(minute ?? 0) < 60 && Number(second ?? 0) < 60;
}

/** Formats a decoded value like Go's `%#v`. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return goQuoted(value);
  if (typeof value === "bigint") return value >= 2n ** 63n ? `0x${value.toString(16)}` : String(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goValue).join(", ")}}`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${goValue(key)}:${goValue(item)}`);
    return `map[interface {}]interface {}{${entries.join(", ")}}`;
  }
  return String(value);
}
