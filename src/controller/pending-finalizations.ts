/** Objects outside the selector of `for` that are still to be finalized: the caches do not hold them any more. */
import type { AnyObject } from "../resource/handle.ts";

export class PendingFinalizations {
  readonly #objects = new Map<string, AnyObject>();

  /** As it was when it left. */
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

  /** It has been let go; a later one of that key has not. */
  complete(key: string, object: AnyObject): void {
    if (this.#objects.get(key) === object) this.#objects.delete(key);
  }
}
