/** Lets a reflector fill any kind of store. */
import type { WatchType } from "../kube/api/watch.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { ReflectorSink } from "./reflector-options.ts";

/** What a reflector can fill: every store and queue here. @see https://pkg.go.dev/k8s.io/client-go/tools/cache#ReflectorStore */
export interface ReflectorStore {
  add(object: AnyObject): void;
  update(object: AnyObject): void;
  delete(object: AnyObject): unknown;
  /** These objects and no others. */
  replace(objects: readonly AnyObject[], resourceVersion: string): void;
}

/**
 * A reflector's way into a store.
 *
 * **Guarantees.** A list replaces the store's content in one step, when all its pages are there.
 */
export class StoreSink implements ReflectorSink {
  readonly #store: ReflectorStore;
  #pages: AnyObject[] = [];
  #resourceVersion = "";

  constructor(store: ReflectorStore) {
    this.#store = store;
  }

  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  beginList(): void {
    this.#pages = [];
  }

  page(objects: readonly AnyObject[]): void {
    for (const object of objects) this.#pages.push(object);
  }

  endList(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
    const pages = this.#pages;
    this.#pages = [];
    this.#store.replace(pages, resourceVersion);
  }

  event(type: WatchType, object: AnyObject): void {
    if (type === "ADDED") this.#store.add(object);
    else if (type === "MODIFIED") this.#store.update(object);
    else if (type === "DELETED") this.#store.delete(object);
    this.#resourceVersion = object.metadata.resourceVersion;
  }

  flush(): void {}

  vanish(): void {
    this.#resourceVersion = "";
    this.#store.replace([], "");
  }
}
