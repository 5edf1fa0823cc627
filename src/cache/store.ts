/** Objects by key. */
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
