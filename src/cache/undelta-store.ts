/** A store for those who want everything again at each change. */
import type { AnyObject } from "../resource/handle.ts";
import { Store } from "./store.ts";

/**
 * Objects by key that are pushed as a whole after each change.
 *
 * **Guarantees.** `push` is called synchronously, once for each change, after the store shows it; a `replace` is one
 * change. A deletion of what is not there is none.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#UndeltaStore
 */
export class UndeltaStore extends Store {
  readonly #push: (objects: readonly AnyObject[]) => void;
  /** A change of many objects is under way. */
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
