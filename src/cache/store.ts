/** Objects by key, and by any value computed from them. */
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";

/** The read-only view of a store. */
export interface ReadonlyStore {
  readonly size: number;
  get(key: string): AnyObject | undefined;
  has(key: string): boolean;
  keys(): IterableIterator<string>;
  values(): IterableIterator<AnyObject>;
  entries(): IterableIterator<[string, AnyObject]>;
}

/**
 * Objects by key, `namespace/name` or `name`; iteration follows the order in which keys were added.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#Store
 */
export class Store implements ReadonlyStore {
  readonly #objects = new Map<string, AnyObject>();
  /** The resource version up to which the store is current; empty before the first list. */
  resourceVersion = "";

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): AnyObject | undefined {
    return this.#objects.get(key);
  }

  has(key: string): boolean {
    return this.#objects.has(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  values(): IterableIterator<AnyObject> {
    return this.#objects.values();
  }

  entries(): IterableIterator<[string, AnyObject]> {
    return this.#objects.entries();
  }

  set(key: string, object: AnyObject): void {
    this.#objects.set(key, object);
  }

  add(object: AnyObject): void {
    this.set(keyString(object.metadata), object);
  }

  update(object: AnyObject): void {
    this.add(object);
  }

  /**
   * @param object the object or its key.
   * @returns whether the store had it.
   */
  delete(object: string | AnyObject): boolean {
    return this.#objects.delete(typeof object === "string" ? object : keyString(object.metadata));
  }

  /** Replaces the content by these objects. */
  replace(objects: readonly AnyObject[], resourceVersion: string): void {
    const keys = new Set<string>();
    for (const object of objects) {
      const key = keyString(object.metadata);
      keys.add(key);
      this.set(key, object);
    }
    for (const key of this.#objects.keys()) if (!keys.has(key)) this.delete(key);
    this.resourceVersion = resourceVersion;
  }

  clear(): void {
    this.#objects.clear();
  }
}

/**
 * Returns the values by which an index finds an object; without values (`undefined`) the index leaves the object out.
 */
export type IndexFunction = (object: AnyObject) => string | readonly string[] | undefined;

interface Index {
  readonly of: IndexFunction;
  /** The keys by value: a set, or a single key, which most values have. A value without keys is removed. */
  readonly keys: Map<string, string | Set<string>>;
}

const NONE: readonly AnyObject[] = Object.freeze([]);
const NO_KEYS: readonly string[] = Object.freeze([]);

/** Objects by key and by index. Indexes may be added and removed at any time. */
export class Indexer extends Store {
  readonly #indexes = new Map<string, Index>();

  /** @throws Error when another index has that name; the same function is added once. */
  addIndex(name: string, of: IndexFunction): void {
    const existing = this.#indexes.get(name);
    if (existing?.of === of) return;
    if (existing !== undefined) throw new Error(`Cannot add index "${name}": another function has that name`);
    const index: Index = { of, keys: new Map() };
    for (const [key, object] of this.entries()) enter(index, key, of(object));
    this.#indexes.set(name, index);
  }

  removeIndex(name: string): void {
    this.#indexes.delete(name);
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** @throws Error when no index has that name. */
  byIndex(name: string, value: string): readonly AnyObject[] {
    const keys = this.#index(name).keys.get(value);
    if (keys === undefined) return NONE;
    if (typeof keys === "string") return [this.get(keys)!];
    const objects: AnyObject[] = [];
    for (const key of keys) objects.push(this.get(key)!);
    return objects;
  }

  /** The present keys of the objects with a value. @throws Error when no index has that name. */
  keysOf(name: string, value: string): Iterable<string> {
    const keys = this.#index(name).keys.get(value) ?? NO_KEYS;
    return typeof keys === "string" ? [keys] : keys;
  }

  /** The values that have objects. @throws Error when no index has that name. */
  indexValues(name: string): IterableIterator<string> {
    return this.#index(name).keys.keys();
  }

  override set(key: string, object: AnyObject): void {
    if (this.#indexes.size > 0) {
      const old = this.get(key);
      for (const index of this.#indexes.values()) {
        const before = old === undefined ? undefined : index.of(old);
        const after = index.of(object);
        if (before === after) continue;
        leave(index, key, before);
        enter(index, key, after);
      }
    }
    super.set(key, object);
  }

  /** Adds objects whose keys are not in the store yet. */
  addNew(objects: readonly AnyObject[]): void {
    for (const object of objects) super.set(keyString(object.metadata), object);
    for (const index of this.#indexes.values()) enterAll(index, objects);
  }

  override delete(target: string | AnyObject): boolean {
    const key = typeof target === "string" ? target : keyString(target.metadata);
    if (this.#indexes.size > 0) {
      const old = this.get(key);
      if (old !== undefined) for (const index of this.#indexes.values()) leave(index, key, index.of(old));
    }
    return super.delete(key);
  }

  override clear(): void {
    for (const index of this.#indexes.values()) index.keys.clear();
    super.clear();
  }

  #index(name: string): Index {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`Cannot read index "${name}": it does not exist`);
    return index;
  }
}

type Values = ReturnType<IndexFunction>;

function enterAll(index: Index, objects: readonly AnyObject[]): void {
  for (const object of objects) {
    const values = index.of(object);
    if (values !== undefined) enter(index, keyString(object.metadata), values);
  }
}

function enter(index: Index, key: string, values: Values): void {
  if (values === undefined) return;
  if (typeof values === "string") enterUnder(index, values, key);
  else for (const value of values) enterUnder(index, value, key);
}

function enterUnder(index: Index, value: string, key: string): void {
  const keys = index.keys.get(value);
  if (keys === undefined) index.keys.set(value, key);
  else if (typeof keys !== "string") keys.add(key);
  else if (keys !== key) index.keys.set(value, new Set([keys, key]));
}

function leave(index: Index, key: string, values: Values): void {
  if (values === undefined) return;
  if (typeof values === "string") leaveFrom(index, values, key);
  else for (const value of values) leaveFrom(index, value, key);
}

function leaveFrom(index: Index, value: string, key: string): void {
  const keys = index.keys.get(value);
  if (keys === undefined) return;
  if (typeof keys === "string") {
    if (keys === key) index.keys.delete(value);
    return;
  }
  keys.delete(key);
  if (keys.size === 0) index.keys.delete(value);
}
