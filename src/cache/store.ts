/** Objects by key. */
import type { AnyObject } from "../resource/handle.ts";

/** What may be read of a store. */
export interface ReadonlyStore {
  readonly size: number;
  get(key: string): AnyObject | undefined;
  has(key: string): boolean;
  keys(): IterableIterator<string>;
  values(): IterableIterator<AnyObject>;
  entries(): IterableIterator<[string, AnyObject]>;
}

/** Objects by key, `namespace/name` or `name`; iteration is in the order in which keys came. */
export class Store implements ReadonlyStore {
  readonly #objects = new Map<string, AnyObject>();
  /** The version up to which the store is known to be current; empty before the first list. */
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

  /** @returns whether there was such an object. */
  delete(key: string): boolean {
    return this.#objects.delete(key);
  }

  clear(): void {
    this.#objects.clear();
  }
}
