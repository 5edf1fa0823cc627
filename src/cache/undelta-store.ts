/** A store that pushes its whole content after each change. */
import type { AnyObject } from "../resource/handle.ts";
import { Store } from "./store.ts";

/**
 * Objects by key; the whole content is pushed after each change.
 *
 * **Guarantees.** `push` is called synchronously, once for each change, after the store has changed. A `replace` is one
 * change. Deleting an absent object is no change.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#UndeltaStore
 */
export class UndeltaStore extends Store {
  readonly #push: (objects: readonly AnyObject[]) => void;
  /** A `replace` is under way. */
  #several = false;

  constructor(push: (objects: readonly AnyObject[]) => void) {
    super();
    this.#push = push;
  }

  override set(key: string, object: AnyObject): void {
    super.set(key, object);
    this.#changed();
  }

  override delete(object: string | AnyObject): boolean {
    const was = super.delete(object);
    if (was) this.#changed();
    return was;
  }

  override clear(): void {
    super.clear();
    this.#changed();
  }

  override replace(objects: readonly AnyObject[], resourceVersion: string): void {
    this.#several = true;
    try {
      super.replace(objects, resourceVersion);
    } finally {
      this.#several = false;
    }
    this.#changed();
  }

  #changed(): void {
    if (!this.#several) this.#push([...this.values()]);
  }
}
