/** Reads an informer's store by namespace and labels. */
import type { AnyObject } from "../resource/handle.ts";
import { type Key, keyString } from "../resource/meta.ts";
import { type LabelQuery, labelSelector } from "../resource/selector.ts";
import { isStub } from "./object-transformer.ts";
import type { ReadonlyStore } from "./store.ts";

export interface ListerOptions {
  /** The only namespace. @default all */
  readonly namespace?: string | undefined;
  /** A label selector, such as `"app=web"` or `{ app: "web" }`. @default all */
  readonly labels?: LabelQuery | undefined;
}

/**
 * Reads objects of one kind.
 *
 * **Guarantees.** It sends no requests and copies nothing: it returns the objects of the store, which must not be
 * changed. Objects that are kept as stubs are left out.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#GenericLister
 */
export class Lister<T extends AnyObject = AnyObject> {
  readonly #store: Pick<ReadonlyStore, "get" | "values">;
  readonly #namespace: string | undefined;

  /** @param options `namespace` restricts the lister to one namespace. */
  constructor(store: Pick<ReadonlyStore, "get" | "values">, options: { readonly namespace?: string | undefined } = {}) {
    this.#store = store;
    this.#namespace = options.namespace;
  }

  /** @throws SyntaxError when the label selector is invalid. */
  list(options: ListerOptions = {}): readonly T[] {
    const selector = options.labels === undefined ? undefined : labelSelector(options.labels);
    const objects: T[] = [];
    for (const object of this.#store.values()) {
      const { namespace, labels } = object.metadata;
      if (this.#namespace !== undefined && namespace !== this.#namespace) continue;
      if (options.namespace !== undefined && namespace !== options.namespace) continue;
      if (selector !== undefined && !selector.matches(labels)) continue;
      if (!isStub(object)) objects.push(object as T);
    }
    return objects;
  }

  /** @param key for a lister of one namespace the name alone. */
  get(key: Key | string): T | undefined {
    const named = typeof key === "string" ? { name: key, namespace: this.#namespace } : key;
    if (this.#namespace !== undefined && named.namespace !== this.#namespace) return undefined;
    const object = this.#store.get(keyString(named));
    return object === undefined || isStub(object) ? undefined : (object as T);
  }

  namespace(namespace: string): Lister<T> {
    return new Lister<T>(this.#store, { namespace });
  }
}
