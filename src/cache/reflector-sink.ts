/** The target of a reflector: a sink of its own, or any store or queue by {@link StoreSink}. */
import type { WatchType } from "../kube/api/watch.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { ListReason } from "./reflector-state.ts";

/** Takes what a reflector finds. */
export interface ReflectorSink {
  /** The resource version of the last list, event or bookmark. */
  readonly resourceVersion: string;
  /** Begins a list; a list that was not ended is discarded. */
  beginList(reason: ListReason): void;
  page(objects: readonly AnyObject[], resourceVersion: string): void;
  endList(resourceVersion: string): void;
  event(type: WatchType, object: AnyObject): void;
  /** A batch of events has been passed on, and no further event has arrived yet. */
  flush(): void;
  /** The kind no longer exists. */
  vanish(): void;
}

/** A store that a reflector can fill. @see https://pkg.go.dev/k8s.io/client-go/tools/cache#ReflectorStore */
export interface ReflectorStore {
  add(object: AnyObject): void;
  update(object: AnyObject): void;
  delete(object: AnyObject): unknown;
  /** Replaces the content by these objects. */
  replace(objects: readonly AnyObject[], resourceVersion: string): void;
}

/**
 * Passes what a reflector finds on to a store.
 *
 * **Guarantees.** A list replaces the content of the store in one step, once all its pages have arrived.
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
