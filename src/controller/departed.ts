/** Objects outside the selector of `for` that are still to be finalized: the caches do not hold them any more. */
import type { AnyObject } from "../resource/handle.ts";

export class Departed {
  readonly #objects = new Map<string, AnyObject>();

  /** As it was when it left. */
  get(key: string): AnyObject | undefined {
    return this.#objects.get(key);
  }

  left(key: string, object: AnyObject): void {
    this.#objects.set(key, object);
  }

  cameBack(key: string): void {
    this.#objects.delete(key);
  }

  /** It has been let go; a later one of that key has not. */
  finalized(key: string, object: AnyObject): void {
    if (this.#objects.get(key) === object) this.#objects.delete(key);
  }
}
