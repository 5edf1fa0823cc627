/** The objects that have left the selector of `for` and must still be finalized. The caches no longer hold them. */
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

  /** The object as it left the selector. */
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

  /** Removes an object that has been finalized; a later object with the same key stays. */
  complete(key: string, object: AnyObject): void {
    if (this.#objects.get(key) === object) this.remove(key);
  }
}
