/** Decodes YAML as the server does, as another notation of JSON. */
import { asInteger, numberOf } from "../numbers.ts";
import { YamlError } from "./cursor.ts";
import { parseDocument, type YamlEntry, type YamlNode } from "./parser.ts";
import { goValue, scalarValue } from "./scalar-value.ts";
import { setField } from "../schema/set-field.ts";

export interface DecodedYaml {
  readonly value: unknown;
  /** The duplicate keys, in the words of strict decoding; `undefined` for none. */
  readonly repeated: string | undefined;
}

/** Decodes the first document of a text. @throws YamlError in the words of the parser, with `yaml: ` where it says that */
export function decodeYaml(text: string): DecodedYaml {
  let value: unknown;
  const decoder = new Decoder();
  try {
    if (/[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text.replace(/^\ufeff/, "")))
      throw new YamlError("control characters are not allowed");
    const document = parseDocument(text);
    value = document === undefined ? null : decoder.value(document);
  } catch (error) {
    if (error instanceof YamlError) throw new YamlError(`yaml: ${error.message}`, { cause: error });
    throw error;
  }
  const repeated = decoder.repeated.length === 0 ? undefined : decoder.repeated;
  return {
    value: asJson(value),
    repeated: repeated && `yaml: unmarshal errors:\n${repeated.map((each) => `  ${each}`).join("\n")}`,
  };
}

/** A number that Go treats as a float, where its text as a key depends on that. */
class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  toString(): string {
    return String(this.value);
  }
}

type Keyed = Map<unknown, unknown>;

class Decoder {
  readonly repeated: string[] = [];
  readonly #inside = new Set<YamlNode>();
  #count = 0;
  #aliased = 0;

  value(node: YamlNode): unknown {
    this.#count++;
    if (this.#inside.size > 0) this.#aliased++;
    if (this.#aliased > 100 && this.#count > 1000 && this.#aliased / this.#count > mostAliased(this.#count))
      throw new YamlError("document contains excessive aliasing");
    if (node.kind === "alias") return this.#alias(node);
    if (node.kind === "sequence") return node.items.map((item) => this.value(item));
    if (node.kind === "mapping") return this.#mapping(node.entries, new Map());
    if (node.tag === "" && !node.isPlain) return node.value;
    const { type, value } = scalarValue(node.tag, node.value);
    return type === "float" ? new Float(value as number) : value;
  }

  #alias(node: YamlNode & { readonly kind: "alias" }): unknown {
    if (this.#inside.has(node)) throw new YamlError(`anchor '${node.name}' value contains itself`);
    this.#inside.add(node);
    const value = this.value(node.target);
    this.#inside.delete(node);
    return value;
  }

  #mapping(entries: readonly YamlEntry[], into: Keyed): Keyed {
    for (const { key, value } of entries) {
      if (key.kind === "scalar" && key.value === "<<" && (key.isPlain || key.tag === "tag:yaml.org,2002:merge")) {
        this.#merge(value, into);
        continue;
      }
      const name = this.value(key);
      if (name instanceof Map || Array.isArray(name)) throw new YamlError(`invalid map key: ${goValue(name)}`);
      this.#set(into, name, value);
    }
    return into;
  }

  #set(into: Keyed, name: unknown, node: YamlNode): void {
    const value = this.value(node);
    const known = name instanceof Float ? [...into.keys()].find((each) => isSameFloat(each, name)) : name;
    if (known !== undefined && into.has(known))
      this.repeated.push(`line ${node.line + 1}: key ${name === null ? "<nil>" : goValue(name)} already set in map`);
    into.set(known ?? name, value);
  }

  #merge(node: YamlNode, into: Keyed): void {
    const found = node.kind === "alias" ? node.target : node;
    if (found.kind === "mapping") {
      this.#mergeMapping(node, into);
    } else if (node.kind === "sequence") {
      for (const item of node.items.toReversed()) {
        if ((item.kind === "alias" ? item.target : item).kind !== "mapping") throw noMap();
        this.#mergeMapping(item, into);
      }
    } else {
      throw noMap();
    }
  }

  #mergeMapping(node: YamlNode, into: Keyed): void {
    if (node.kind === "mapping") {
      this.#mapping(node.entries, into);
    } else if (node.kind === "alias") {
      if (this.#inside.has(node)) throw new YamlError(`anchor '${node.name}' value contains itself`);
      this.#inside.add(node);
      this.#mergeMapping(node.target, into);
      this.#inside.delete(node);
    }
  }
}

function noMap(): YamlError {
  return new YamlError("map merge requires map or sequence of maps as the value");
}

function isSameFloat(one: unknown, other: Float): boolean {
  return one instanceof Float && one.value === other.value;
}

/** A small document may consist mostly of aliases, a large one may not. */
function mostAliased(count: number): number {
  if (count <= 400_000) return 0.99;
  return count >= 4_000_000 ? 0.1 : 0.99 - 0.89 * ((count - 400_000) / 3_600_000);
}

/** A float goes through the text of JSON, in which one without a fraction has no point. */
function readAgain(value: number): number | bigint {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? numberOf(String(value)) : value;
}

/** Converts a value to JSON. @throws YamlError for values that JSON cannot represent */
function asJson(value: unknown): unknown {
  if (value instanceof Float) {
    if (Number.isFinite(value.value)) return readAgain(value.value);
    const shown = Number.isNaN(value.value) ? "NaN" : value.value > 0 ? "+Inf" : "-Inf";
    throw new YamlError(`json: unsupported value: ${shown}`);
  }
  if (typeof value === "bigint") return asInteger(value);
  if (Array.isArray(value)) return value.map(asJson);
  if (!(value instanceof Map)) return value;
  const fields: Record<string, unknown> = {};
  for (const [key, item] of value as Keyed) setField(fields, keyText(key, item), asJson(item));
  return fields;
}

function keyText(key: unknown, value: unknown): string {
  if (key === null || (typeof key === "bigint" && key >= 2n ** 63n)) {
    const [type, shown] = key === null ? ["%!s(<nil>)", "<nil>"] : ["uint64", goValue(key)];
    const item = value === null ? "<nil>" : goValue(value);
    throw new YamlError(`unsupported map key of type: ${type}, key: ${shown}, value: ${item}`);
  }
  if (!(key instanceof Float)) return String(key);
  if (Number.isFinite(key.value)) return shortFloat(key.value);
  return Number.isNaN(key.value) ? ".nan" : key.value > 0 ? ".inf" : "-.inf";
}

/** Formats a 32-bit float with the fewest digits, and with an exponent from 21 digits on. */
function shortFloat(value: number): string {
  const float = Math.fround(value);
  for (let digits = 1; digits <= 9; digits++) {
    const text = float.toPrecision(digits);
    if (Math.fround(Number(text)) === float) return goExponent(Number(text));
  }
  return goExponent(value);
}

function goExponent(value: number): string {
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 21) return String(value);
  const [mantissa = "", power = ""] = value.toExponential().split("e");
  return `${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}
