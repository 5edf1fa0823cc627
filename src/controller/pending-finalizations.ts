/** Objects that have left the selector of `for` and must still be finalized. The caches no longer hold them. */
import type { AnyObject } from "../resource/handle.ts";

export class PendingFinalizations {
  readonly #objects = new Map<string, AnyObject>();

  /** The object as it left the selector. */
  get(key: string): AnyObject | undefined {
    return this.#objects.get(key);
  }

  add(key: string, object: AnyObject): void {
    this.#objects.set(key, object);
  }

  remove(key: string): void {
    this.#objects.delete(key);
  }

  /** Others look after all but these. */
  retain(isOurs: (object: AnyObject) => boolean): void {
    for (const [key, object] of this.#objects) if (!isOurs(object)) this.#objects.delete(key);
  }

  /** The object has been finalized; a later object of the key stays. */
  complete(key: string, object: AnyObject): void {
    if (this.#objects.get(key) === object) this.#objects.delete(key);
  }
}
