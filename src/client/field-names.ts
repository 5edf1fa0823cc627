/**
 * The names of the fields of a value, without their values, as short text:
 * `spec(replicas,template(spec(containers[web(image)])))`.
 *
 * A child carries the names of its desired fields. They tell a later process which fields to remove, even when their
 * owners are no longer recorded.
 */
import { sha256 } from "#runtime/digest";
import { ownField } from "../resource/any-key.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { type Fields, isFields } from "../resource/json.ts";
import { identityOf, isLeaf } from "./managed-fields.ts";

/** Named parts: fields of a map, or items of a list. */
export type Names = ReadonlyMap<string, Part>;

interface Part {
  readonly isItem: boolean;
  /** The field that identifies a list item. */
  readonly key: string | undefined;
  readonly value: string;
  /** The names within a map, even an empty one, or a list of maps. */
  readonly parts: Names | undefined;
}

/**
 * Fields that identify items of lists in built-in kinds, each with its second key. The first that an item has counts.
 */
const KEYS: ReadonlyMap<string, string | undefined> = new Map([
  ["containerPort", "protocol"],
  ["mountPath", undefined],
  ["devicePath", undefined],
  ["port", "protocol"],
  ["uid", undefined],
  ["name", undefined],
  ["ip", undefined],
  ["topologyKey", "whenUnsatisfiable"],
]);
/** The second key of an item without one. */
const DEFAULT = "TCP";
/** The longest text; a longer one is replaced by a hash, which shows that something may have gone, but not what. */
const MOST = 8_192;
const PLAIN = /^[\w./-]+$/;

/** Writes the names, the same for the same fields in any order. */
export function fieldNames(value: Fields): string {
  const names = namesOf(value);
  return names.length > MOST ? `#${sha256(names).slice(0, 22)}` : names;
}

/** The names of the fields themselves. */
export function namesIn(value: Fields): Names {
  return parseFieldNames(namesOf(value))!;
}

function namesOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  if (Array.isArray(value)) {
    if (!value.some(isFields)) return "";
    return `[${value.map((item) => `${identity(item)}${namesOf(item)}`).join()}]`;
  }
  const names: string[] = [];
  for (const name in value) {
    const part = (value as Fields)[name];
    if (part !== undefined) names.push(`${quoted(name)}${namesOf(part)}`);
  }
  return `(${names.sort().join()})`;
}

function identity(item: unknown): string {
  if (!isFields(item)) return "";
  const key = keyOf(item);
  if (key === undefined) return "";
  const value = quoted(valueOf(item, key));
  return key === "name" ? value : `${key}=${value}`;
}

/** The value of an item's key, with its second key if it has one: `53/UDP`. */
function valueOf(item: Fields, key: string): string {
  const second = KEYS.get(key);
  const more = second === undefined ? undefined : item[second];
  return more === undefined ? String(item[key]) : `${String(item[key])}/${String(more)}`;
}

function isNamed(item: Fields, key: string, value: string): boolean {
  const part = valueOf(item, key);
  return part === value || part === `${value}/${DEFAULT}`;
}

function keyOf(item: Fields): string | undefined {
  for (const key of KEYS.keys()) if (typeof item[key] === "string" || typeof item[key] === "number") return key;
  return undefined;
}

function quoted(name: string): string {
  return PLAIN.test(name) ? name : JSON.stringify(name);
}

const TOKEN = /[()[\],=]|"(?:[^"\\]|\\.)*"|[\w./-]+/y;

/** Reads names. @returns `undefined` for text without names, such as a hash, and for text that somebody has changed. */
export function parseFieldNames(text: string): Names | undefined {
  try {
    const reader = new NameReader(text);
    const names = reader.parts();
    return reader.token === "" ? names : undefined;
  } catch {
    return undefined;
  }
}

class NameReader {
  /** The next token; empty at the end, and at text that is no token. */
  token = "";
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#next();
  }

  /** The parts of a map or a list; `undefined` when there is neither. */
  parts(): Names | undefined {
    const isItem = this.token === "[";
    if (!isItem && this.token !== "(") return undefined;
    const parts = new Map<string, Part>();
    do {
      this.#next();
      if (this.token === ")" && parts.size === 0) break;
      let value = this.#word();
      let key = isItem && value !== "" ? "name" : undefined;
      if (this.token === "=") {
        this.#next();
        key = value;
        value = this.#word();
      }
      const id = isItem && key === undefined ? `#${parts.size}` : value;
      parts.set(id, { isItem, key, value, parts: this.parts() });
    } while (this.token === ",");
    if (this.#next() !== (isItem ? "]" : ")")) throw new SyntaxError("A list of names has no end");
    return parts;
  }

  /** A name; empty when there is none. */
  #word(): string {
    if (this.token === "" || "()[],=".includes(this.token)) return "";
    const word = this.#next();
    return word.startsWith('"') ? (JSON.parse(word) as string) : word;
  }

  #next(): string {
    const { token } = this;
    TOKEN.lastIndex = this.#at;
    this.token = TOKEN.exec(this.#text)?.[0] ?? "";
    this.#at += this.token.length;
    return token;
  }
}

/** Whether the names name something that is not in the value. */
export function namesMore(names: Names, value: unknown): boolean {
  let place = 0;
  for (const [id, part] of names) {
    const content = part.isItem ? itemNamed(part, value, place++) : isFields(value) ? ownField(value, id) : undefined;
    if (content === undefined || (part.parts !== undefined && namesMore(part.parts, content))) return true;
  }
  return false;
}

/** The fields of a live value that the names name, in the form of managed fields. */
export function namedFields(names: Names | undefined, live: unknown): FieldsV1 {
  const fields: Record<string, FieldsV1> = {};
  if (names === undefined) return fields;
  for (const [id, part] of names) {
    if (!part.isItem) {
      const value = isFields(live) ? ownField(live, id) : undefined;
      const inner = value === undefined ? undefined : namedFields(part.parts, value);
      // A map or list whose named parts have all gone has only parts of others left.
      const isGone = inner !== undefined && isLeaf(inner) && [...(part.parts?.values() ?? [])].some(isTold);
      if (inner !== undefined && !isGone) fields[`f:${id}`] = inner;
    } else if (part.key !== undefined) {
      const item = itemNamed(part, live, -1);
      if (isFields(item)) fields[elementOf(part.key, item)] = { ".": {}, ...namedFields(part.parts, item) };
    }
  }
  // Only the schema shows whether a map or list has parts or is a whole. Without other parts, it counts as both.
  const parts = Object.keys(fields).length;
  if (parts > 0 && parts === Object.keys(live as object).length) fields["."] = {};
  return fields;
}

/** Whether an existing part would be recognized. */
function isTold({ isItem, key }: Part): boolean {
  return !isItem || key !== undefined;
}

/** Selects the fields that the names name, with everything below the last name. */
export function fieldsNamed(fields: FieldsV1, names: Names | undefined): FieldsV1 {
  if (names === undefined) return fields;
  const named: Record<string, FieldsV1> = {};
  for (const element in fields) {
    if (element === ".") named[element] = fields[element]!;
    for (const [id, part] of names) {
      if (part.isItem ? isItemOf(part, element) : element === `f:${id}`) {
        named[element] = fieldsNamed(fields[element]!, part.parts);
        break;
      }
    }
  }
  return named;
}

function isItemOf({ key, value }: Part, element: string): boolean {
  if (!element.startsWith("k:") || key === undefined) return element.startsWith("v:") || element.startsWith("k:");
  const identity = identityOf(element) as Fields;
  return identity[key] === undefined || isNamed(identity, key, value);
}

function itemNamed({ key, value }: Part, list: unknown, place: number): unknown {
  if (!Array.isArray(list)) return undefined;
  if (key === undefined) return (list as readonly unknown[])[place];
  return (list as readonly unknown[]).find((item) => isFields(item) && isNamed(item, key, value));
}

function elementOf(key: string, item: Fields): string {
  const second = KEYS.get(key);
  const keys = second === undefined || item[second] === undefined ? [key] : [key, second].sort();
  return `k:${JSON.stringify(Object.fromEntries(keys.map((name) => [name, item[name]])))}`;
}
