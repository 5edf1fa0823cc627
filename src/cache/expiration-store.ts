/** A store whose objects expire. */
import { systemClock, type Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { ReadonlyStore } from "./store.ts";

export interface ExpirationStoreOptions {
  /** Milliseconds that an object stays after it was set. */
  readonly ttl: number;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

interface Entry {
  readonly object: AnyObject;
  readonly until: number;
}

/**
 * Objects by key, each for a time.
 *
 * **Guarantees.** No read ever shows an object that has expired. No timer is involved: an expired object is removed
 * when a read meets it, so `size` may count objects that no read shows any more.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#ExpirationCache
 */
export class ExpirationStore implements ReadonlyStore {
  readonly #entries = new Map<string, Entry>();
  readonly #ttl: number;
  readonly #clock: Clock;

  constructor(options: ExpirationStoreOptions) {
    if (!(options.ttl > 0)) throw new RangeError(`Cannot keep objects for ttl ${options.ttl}: it must be more than 0`);
    this.#ttl = options.ttl;
    this.#clock = options.clock ?? systemClock;
  }

  /** The number of objects, including expired ones that no read has met since. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string): AnyObject | undefined {
    return this.#alive(key, this.#entries.get(key));
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): Generator<[string, AnyObject]> {
    for (const [key, entry] of this.#entries) {
      const object = this.#alive(key, entry);
      if (object !== undefined) yield [key, object];
    }
  }

  *keys(): Generator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<AnyObject> {
    for (const [, object] of this.entries()) yield object;
  }

  set(key: string, object: AnyObject): void {
    // Deleted first, so that the oldest come first in every iteration.
    this.#entries.delete(key);
    this.#entries.set(key, { object, until: this.#clock.now() + this.#ttl });
  }

  add(object: AnyObject): void {
    this.set(keyString(object.metadata), object);
  }

  update(object: AnyObject): void {
    this.add(object);
  }

  /** @returns whether the object existed. */
  delete(object: string | AnyObject): boolean {
    const key = typeof object === "string" ? object : keyString(object.metadata);
    const had = this.has(key);
    this.#entries.delete(key);
    return had;
  }

  /** Replaces the content by these objects. */
  replace(objects: readonly AnyObject[]): void {
    this.clear();
    for (const object of objects) this.add(object);
  }

  clear(): void {
    this.#entries.clear();
  }

  #alive(key: string, entry: Entry | undefined): AnyObject | undefined {
    if (entry === undefined) return undefined;
    if (entry.until > this.#clock.now()) return entry.object;
    this.#entries.delete(key);
    return undefined;
  }
}
