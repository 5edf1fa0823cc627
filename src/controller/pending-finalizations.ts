/**
 * The objects that the caches no longer hold, because they have left the selector of `for` or are gone, and that had
 * our finalizer when they were last seen, or are being given it. Whether there is still something to finalize, the
 * server knows.
 */
import type { AnyObject } from "../resource/handle.ts";

export class PendingFinalizations {
  readonly #objects = new Map<string, AnyObject>();
  /** Called after one was removed. */
  onChange: () => void = () => {};

  get size(): number {
    return this.#objects.size;
  }

  /** The key of any of them. */
  get first(): string | undefined {
    return this.#objects.keys().next().value;
  }

  /** The object as it was last seen; of one that was found by a search, only the metadata. */
  get(key: string): AnyObject | undefined {
    return this.#objects.get(key);
  }

  add(key: string, object: AnyObject): void {
    this.#objects.set(key, object);
  }

  remove(key: string): void {
    if (this.#objects.delete(key)) this.onChange();
  }

  /** Keeps only these objects, because other replicas finalize the others. */
  retain(isOurs: (object: AnyObject) => boolean): void {
    for (const [key, object] of this.#objects) if (!isOurs(object)) this.remove(key);
  }

  /** Removes an object that needs no finalization any more; a later object with the same key stays. */
  complete(key: string, object: AnyObject): void {
    if (this.#objects.get(key) === object) this.remove(key);
  }
}
