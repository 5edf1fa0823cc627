/**
 * Compares two states of an object, and names the places at which they differ.
 *
 * **What counts as one place.** A scalar, a list of scalars, a map that has become empty, and a list that was or is
 * empty. Items of a list of objects are told apart by their keys: those that the schema names, otherwise a field such as `name` or `type`
 * by which both lists tell all their items apart, otherwise their index. An added or removed item is one place. A list
 * whose items have changed their order is a place, too, whose values are the keys of the items.
 *
 * **What is left out.** `metadata.resourceVersion`, `generation` and `managedFields`, and kubectl's copy of the object in
 * an annotation, because they only repeat that something else has changed.
 */
import { ownField } from "../resource/any-key.ts";
import { type Fields, isFields } from "../resource/json.ts";
import { SENSITIVE, type StructuralSchema } from "../resource/schema/structural.ts";
import { boundedCopy, type Clean, cutText, fieldSchema } from "./bounded.ts";
import type { Change } from "./run-answer.ts";

/** The most changes that are named. */
export const MOST_CHANGES = 32;
/** The most values that are compared; a Deployment has some hundred. */
const MOST_VALUES = 20_000;
const DEEPEST = 64;
/** Items of a longer list are told apart by their index. */
const MOST_ITEMS = 1_000;
/** The most characters of a path, and of the value of a key in it. */
const LONGEST_PATH = 512;
const LONGEST_KEY = 64;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** Fields that tell the items of a list apart where no schema says so. */
const KEYS = [
  "name",
  "key",
  "type",
  "uid",
  "id",
  "mountPath",
  "devicePath",
  "containerPort",
  "port",
  "ip",
  "topologyKey",
];
/** A service may listen on one port with several protocols. */
const WITH_PROTOCOL = new Set(["containerPort", "port"]);

export interface Difference {
  readonly changes: readonly Change[];
  /** At least how many further changes there are. */
  readonly more: number;
}

export interface CompareOptions {
  /** Marks sensitive fields and names the keys of lists. @default unknown */
  readonly schema?: StructuralSchema | undefined;
  /** Takes secrets out of texts. @default leaves the values out */
  readonly clean?: Clean | undefined;
}

/** Compares two states. The order of the changes is that of the fields, with metadata and status last. */
export function compare(old: Fields, now: Fields, { schema, clean }: CompareOptions = {}): Difference {
  const comparison = new Comparison(clean);
  comparison.objects(old, now, schema);
  return comparison.difference;
}

/** An item of a list in a path, by its keys. */
class ItemKeys {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Segment = string | number | ItemKeys;
type Schema = StructuralSchema | undefined;

class Comparison {
  readonly #clean: Clean | undefined;
  readonly #path: Segment[] = [];
  readonly #changes: Change[] = [];
  #more = 0;
  #values = 0;
  #gaveUp = false;

  constructor(clean: Clean | undefined) {
    this.#clean = clean;
  }

  get difference(): Difference {
    return { changes: this.#changes, more: this.#more + (this.#gaveUp ? 1 : 0) };
  }

  objects(old: Fields, now: Fields, schema: Schema): void {
    for (const name in { ...old, ...now }) {
      if (name !== "metadata" && name !== "status") this.#field(name, { old, now, schema, isSecret: false });
    }
    for (const name of ["metadata", "status"]) this.#field(name, { old, now, schema, isSecret: false });
  }

  #compare(old: unknown, now: unknown, schema: Schema, isSecretAbove: boolean): void {
    if (old === now || this.#isTooMuch()) return;
    const isSecret = isSecretAbove || schema?.format === SENSITIVE;
    if (isFullMap(old) ? isFullMap(now) || now === undefined : isFullMap(now) && (old === undefined || isFields(old))) {
      return this.#maps((old ?? NONE) as Fields, (now ?? NONE) as Fields, schema, isSecret);
    }
    if (Array.isArray(old) && Array.isArray(now) && old.length > 0 && now.length > 0) {
      return this.#lists(old, now, schema, isSecret);
    }
    if (!this.#same(old, now, 0)) this.#changed(old, now, schema, isSecret);
  }

  #maps(old: Fields, now: Fields, schema: Schema, isSecret: boolean): void {
    for (const name in now) this.#field(name, { old, now, schema, isSecret });
    for (const name in old) {
      if (now[name] === undefined || !Object.hasOwn(now, name)) this.#field(name, { old, now, schema, isSecret });
    }
  }

  #field(name: string, { old, now, schema, isSecret }: FieldPair): void {
    const before = ownField(old, name);
    const after = ownField(now, name);
    if (before === after) return;
    if (this.#path[0] === "metadata" && isRepetition(this.#path, name)) return;
    this.#path.push(name);
    this.#compare(before, after, schema && fieldSchema(schema, name), isSecret);
    this.#path.pop();
  }

  #lists(old: readonly unknown[], now: readonly unknown[], schema: Schema, isSecret: boolean): void {
    if (old.length === now.length && this.#same(old, now, 0)) return;
    if (this.#isTooMuch()) return;
    const areMaps = old.every(isFields) && now.every(isFields);
    if (!areMaps) return this.#changed(old, now, schema, isSecret);
    const isLong = Math.max(old.length, now.length) > MOST_ITEMS;
    const keys = isSecret || isLong ? undefined : keysOf(old, now, schema);
    if (keys === undefined) this.#byIndex(old, now, schema?.items, isSecret);
    else this.#byKeys(old, now, { keys, schema });
  }

  #byIndex(old: readonly unknown[], now: readonly unknown[], items: Schema, isSecret: boolean): void {
    for (let index = 0; index < Math.max(old.length, now.length); index++) {
      this.#path.push(index);
      if (index < Math.min(old.length, now.length)) this.#compare(old[index], now[index], items, isSecret);
      else this.#changed(old[index], now[index], items, isSecret);
      this.#path.pop();
    }
  }

  #byKeys(old: readonly unknown[], now: readonly unknown[], { keys, schema }: { keys: Keys; schema: Schema }): void {
    const before = new Map(keys.old.map((key, index) => [key, old[index]]));
    const after = new Map(keys.now.map((key, index) => [key, now[index]]));
    for (const [key, item] of after) {
      this.#path.push(new ItemKeys(key));
      if (before.has(key)) this.#compare(before.get(key), item, schema?.items, false);
      else this.#changed(undefined, item, schema?.items, false);
      this.#path.pop();
    }
    for (const [key, item] of before) {
      if (after.has(key)) continue;
      this.#path.push(new ItemKeys(key));
      this.#changed(item, undefined, schema?.items, false);
      this.#path.pop();
    }
    // Items that were added at the end say nothing about the order.
    const kept = keys.old.filter((key) => after.has(key));
    const added = keys.now.filter((key) => !before.has(key));
    const isInOrder = [...kept, ...added].every((key, index) => key === keys.now[index]);
    if (!isInOrder) this.#changed(keys.old, keys.now, undefined, false);
  }

  #changed(old: unknown, now: unknown, schema: Schema, isSecret: boolean): void {
    if (this.#changes.length === MOST_CHANGES) {
      this.#more++;
      return;
    }
    const path = pathText(this.#path);
    if (this.#clean === undefined) {
      this.#changes.push({ path });
      return;
    }
    this.#changes.push(new ValueChange(path, { old, now, schema, isSecret, clean: this.#clean }));
  }

  /** Whether two values are equal. A difference in depth or number that is not looked at counts as none. */
  #same(a: unknown, b: unknown, depth: number): boolean {
    if (a === b) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (this.#isTooMuch() || depth > DEEPEST) return (this.#gaveUp = true);
    if (Array.isArray(a)) {
      return (
        Array.isArray(b) && a.length === b.length && a.every((item, index) => this.#same(item, b[index], depth + 1))
      );
    }
    if (Array.isArray(b)) return false;
    let more = 0;
    for (const name in a) {
      if ((a as Fields)[name] === undefined) continue;
      if (!this.#same((a as Fields)[name], ownField(b as Fields, name), depth + 1)) return false;
      more--;
    }
    for (const name in b) if ((b as Fields)[name] !== undefined) more++;
    return more === 0;
  }

  /** Counts a value. @returns whether there are so many that the comparison gives up. */
  #isTooMuch(): boolean {
    if (++this.#values > MOST_VALUES || this.#path.length > DEEPEST) this.#gaveUp = true;
    return this.#gaveUp;
  }
}

interface FieldPair {
  readonly old: Fields;
  readonly now: Fields;
  readonly schema: Schema;
  readonly isSecret: boolean;
}

const NONE: Fields = Object.freeze({});

interface ValuePair {
  readonly old: unknown;
  readonly now: unknown;
  readonly schema: Schema;
  readonly isSecret: boolean;
  readonly clean: Clean;
}

/** A change with bounded copies of its values; an absent value is no member, so that JSON shows none. */
class ValueChange implements Change {
  readonly path: string;
  declare readonly old?: unknown;
  declare readonly new?: unknown;
  declare readonly redacted?: true;
  declare readonly cut?: true;

  constructor(path: string, { old, now, ...options }: ValuePair) {
    const earlier = old === undefined ? undefined : boundedCopy(old, options);
    const later = now === undefined ? undefined : boundedCopy(now, options);
    this.path = options.clean(path);
    if (earlier !== undefined) this.old = earlier.value;
    if (later !== undefined) this.new = later.value;
    if (earlier?.isCleaned === true || later?.isCleaned === true) this.redacted = true;
    if (earlier?.isCut === true || later?.isCut === true) this.cut = true;
  }
}

function isFullMap(value: unknown): value is Fields {
  if (!isFields(value)) return false;
  for (const name in value) if (value[name] !== undefined) return true;
  return false;
}

/** Whether a field of metadata changes only because another place has changed. */
function isRepetition(path: readonly Segment[], name: string): boolean {
  if (path.length === 1) return name === "resourceVersion" || name === "generation" || name === "managedFields";
  return path.length === 2 && path[1] === "annotations" && name === LAST_APPLIED;
}

interface Keys {
  readonly old: readonly string[];
  readonly now: readonly string[];
}

/** The texts by which both lists tell their items apart; `undefined` when there are none. */
function keysOf(old: readonly Fields[], now: readonly Fields[], schema: Schema): Keys | undefined {
  const declared = schema?.["x-kubernetes-list-map-keys"];
  if (declared !== undefined) {
    const both = keysBy(old, now, declared);
    if (both !== undefined) return both;
  }
  for (const name of KEYS) {
    if (old[0]![name] === undefined) continue;
    const both =
      keysBy(old, now, [name]) ?? (WITH_PROTOCOL.has(name) ? keysBy(old, now, [name, "protocol"]) : undefined);
    if (both !== undefined) return both;
  }
  return undefined;
}

function keysBy(old: readonly Fields[], now: readonly Fields[], names: readonly string[]): Keys | undefined {
  const before = uniqueKeys(old, names);
  const after = before && uniqueKeys(now, names);
  return before && after && { old: before, now: after };
}

function uniqueKeys(items: readonly Fields[], names: readonly string[]): readonly string[] | undefined {
  const keys = new Set<string>();
  for (const item of items) {
    let text = "";
    for (const name of names) {
      const value = ownField(item, name);
      if (typeof value === "object" || (value === undefined && names.length === 1)) return undefined;
      if (value !== undefined) text += `${text === "" ? "" : ","}${name}=${keyText(String(value))}`;
    }
    keys.add(text);
  }
  return keys.size === items.length ? [...keys] : undefined;
}

function keyText(value: string): string {
  if (value.length > LONGEST_KEY) return JSON.stringify(cutText(value, LONGEST_KEY));
  return /^[\w.:/-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Field names are written after a dot where they are simple, otherwise in brackets. */
function pathText(path: readonly Segment[]): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`;
    else if (segment instanceof ItemKeys) text += `[${segment.text}]`;
    else if (/^[\w-]+$/.test(segment)) text += text === "" ? segment : `.${segment}`;
    else text += /^[\w./-]+$/.test(segment) ? `[${segment}]` : `[${JSON.stringify(segment)}]`;
    if (text.length > LONGEST_PATH) break;
  }
  return cutText(text, LONGEST_PATH);
}
