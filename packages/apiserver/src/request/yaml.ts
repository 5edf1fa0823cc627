/**
 * YAML bodies. They are read as Go's library for Kubernetes reads them: as YAML 1.1, the first document only, converted
 * to JSON values.
 */
import { yamlLibrary } from "#platform/lazy-packages";
import type { LineCounter, Pair, Scalar } from "yaml";
import { asInteger, numberOf, parseJson } from "../numbers.ts";
import { setField } from "../schema/set-field.ts";

/** The text is not YAML, or JSON cannot express its content. */
export class YamlError extends Error {}

export interface DecodedYaml {
  readonly value: unknown;
  /** Keys that a map has twice, as warnings and strict decoding name them. The last value counts. */
  readonly repeated: readonly string[];
}

/** Decodes the first document of a text. @throws YamlError */
export function decodeYaml(text: string): DecodedYaml {
  for (const document of documents(text)) return document;
  return { value: null, repeated: [] };
}

/** Decodes every document of a text; an empty one is `null`. @throws YamlError */
export function decodeYamlDocuments(text: string): readonly unknown[] {
  return Array.from(documents(text), ({ value }) => value);
}

function* documents(text: string): Generator<DecodedYaml> {
  if (/[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text.replace(/^\ufeff/, "")))
    throw new YamlError("yaml: control characters are not allowed");
  const { Composer, LineCounter, Parser } = yamlLibrary();
  const lines = new LineCounter();
  // The composer finds duplicate keys by comparing each key with all others of its map; the decoder uses a set instead.
  const composer = new Composer({ version: "1.1", schema: "failsafe", uniqueKeys: false });
  try {
    for (const { contents, errors } of composer.compose(new Parser(lines.addNewLine).parse(text))) {
      const [error] = errors;
      if (error !== undefined) throw new YamlError(`yaml: line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
      const decoder = new Decoder(lines);
      yield { value: contents === null ? null : decoder.value(contents), repeated: decoder.repeated };
    }
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError("yaml: exceeded max depth");
    throw error;
  }
}

/** The most nodes and characters that aliases may repeat: as many as a body may have. */
const mostRepeated = 3 * 1024 * 1024;

interface Anchored {
  readonly value: unknown;
  readonly size: number;
}

/** Converts the nodes of a document to JSON. */
class Decoder {
  readonly repeated: string[] = [];
  readonly #yaml = yamlLibrary();
  readonly #lines: LineCounter;
  /** Values of the anchors so far; `undefined` while the value is being read. */
  readonly #anchors = new Map<string, Anchored | undefined>();
  /** The nodes and characters so far, including those that aliases repeat. */
  #size = 0;
  #repeatedSize = 0;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  value(node: unknown): unknown {
    if (this.#yaml.isAlias(node)) return this.#alias(node.source);
    if (!this.#yaml.isScalar(node) && !this.#yaml.isMap(node) && !this.#yaml.isSeq(node)) return null;
    const { anchor } = node;
    const before = this.#size++;
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const value = this.#yaml.isScalar(node)
      ? this.#scalar(node)
      : this.#yaml.isSeq(node)
        ? this.#list(node.items)
        : this.#map(node.items);
    if (anchor !== undefined) this.#anchors.set(anchor, { value, size: this.#size - before });
    return value;
  }

  #scalar(node: Scalar): unknown {
    this.#size += String(node.value).length;
    const value = scalarValue(node);
    if (typeof value === "number" && !Number.isFinite(value)) throw new YamlError(`yaml: JSON has no number ${value}`);
    return value;
  }

  #list(items: readonly unknown[]): unknown[] {
    return items.map((item) => this.value(item));
  }

  #map(pairs: readonly Pair[]): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    const names = new Set<string>();
    for (const { key, value } of pairs) {
      if (this.#yaml.isScalar(key) && key.value === "<<" && (key.type === "PLAIN" || key.tag?.endsWith(":merge"))) {
        this.#merge(this.value(value), { key, fields, names });
        continue;
      }
      const name = this.value(key);
      if (name === null || typeof name === "object") throw new YamlError("yaml: a key is null, a list or a map");
      this.#set(String(name), this.value(value), { key, fields, names });
    }
    return fields;
  }

  /** Sets the fields of a merged map, or of several maps, of which earlier ones take precedence. */
  #merge(merged: unknown, into: MapUnderWay): void {
    const maps = Array.isArray(merged) ? merged.toReversed() : [merged];
    for (const map of maps as unknown[]) {
      if (typeof map !== "object" || map === null || Array.isArray(map))
        throw new YamlError("yaml: map merge requires map or sequence of maps as the value");
      for (const [name, value] of Object.entries(map)) this.#set(name, value, into);
    }
  }

  #set(name: string, value: unknown, { key, fields, names }: MapUnderWay): void {
    if (names.has(name)) {
      const { line } = this.#lines.linePos((key as Scalar).range?.[0] ?? 0);
      this.repeated.push(`line ${line}: key ${JSON.stringify(name)} already set in map`);
    }
    names.add(name);
    setField(fields, name, value);
  }

  #alias(name: string): unknown {
    if (!this.#anchors.has(name)) throw new YamlError(`yaml: unknown anchor '${name}' referenced`);
    const anchored = this.#anchors.get(name);
    if (anchored === undefined) throw new YamlError(`yaml: anchor '${name}' value contains itself`);
    this.#size += anchored.size;
    this.#repeatedSize += anchored.size;
    if (this.#repeatedSize > mostRepeated) throw new YamlError("yaml: document contains excessive aliasing");
    return structuredClone(anchored.value);
  }
}

/** A map that is being read. */
interface MapUnderWay {
  readonly key: unknown;
  readonly fields: Record<string, unknown>;
  readonly names: Set<string>;
}

const core = "tag:yaml.org,2002:";
/** Whether a value has the type of a tag. */
const fits: Readonly<Record<string, (value: unknown, text: string) => boolean>> = {
  bool: (value) => typeof value === "boolean",
  int: (value, text) => isWhole.test(text.replaceAll("_", "")),
  float: (value) => typeof value === "number" || typeof value === "bigint",
  null: (value) => value === null,
};

/** Resolves a scalar by its tag or, when it has none and no quotes, by its text. @throws YamlError */
function scalarValue({ value, type, tag }: Scalar): unknown {
  const text = String(value);
  if (tag === undefined) return type === "PLAIN" ? plainValue(text) : text;
  const name = tag.startsWith(core) ? tag.slice(core.length) : "";
  if (name === "binary") return fromBase64(text.replaceAll(/\s/g, ""));
  if (!Object.hasOwn(fits, name)) return text;
  const resolved = plainValue(text);
  if (fits[name]!(resolved, text)) return resolved;
  throw new YamlError(`yaml: cannot decode ${JSON.stringify(text)} as a !!${name}`);
}

function fromBase64(text: string): string {
  if (/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
    return Buffer.from(text, "base64").toString();
  throw new YamlError("yaml: !!binary value contains invalid base64 data");
}

const isNull = /^(?:~|null|Null|NULL)?$/;
const isTrue = /^(?:[yY]|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const isFalse = /^(?:[nN]|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const infinite = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const isWhole = /^([-+]?)(0b[01]+|0o?[0-7]+|0x[0-9a-fA-F]+|0|[1-9][0-9]*)$/;
const isFloat = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/** Resolves a plain scalar as YAML 1.1 has it. Times are texts. */
function plainValue(text: string): unknown {
  if (isNull.test(text)) return null;
  if (isTrue.test(text)) return true;
  if (isFalse.test(text)) return false;
  if (infinite.test(text)) return /nan/i.test(text) ? Number.NaN : Infinity;
  if (!/^[-+.0-9]/.test(text)) return text;
  const digits = text.replaceAll("_", "");
  const [, sign, number] = isWhole.exec(digits) ?? [];
  if (number !== undefined) {
    const size = BigInt(number.replace(/^0(?=[0-7])/, "0o"));
    return asInteger(sign === "-" ? -size : size);
  }
  const float = isFloat.test(digits) ? Number(digits) : Number.NaN;
  // Storage takes a float through the text of JSON, in which a float without a fraction has no point.
  return Number.isFinite(float) ? numberOf(String(float)) : text;
}

/** Encodes JSON as YAML that readers of YAML 1.1 and of 1.2 read alike. */
export function encodeYaml(json: string | Uint8Array): string {
  const text = typeof json === "string" ? json : new TextDecoder().decode(json);
  return yamlLibrary().stringify(parseJson(text), {
    version: "1.1",
    sortMapEntries: true,
    indentSeq: false,
    aliasDuplicateObjects: false,
  });
}
