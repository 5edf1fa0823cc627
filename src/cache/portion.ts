/**
 * The part of a kind's objects that an informer keeps, where several replicas divide them, and the sink that lets only
 * that part through.
 */
import type { WatchType } from "../kube/api/watch.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { ReflectorSink } from "./reflector-sink.ts";
import type { ListReason } from "./reflector-state.ts";
import type { ReadonlyStore } from "./store.ts";

/**
 * Which objects belong to it changes while the process runs. It depends only on fields of the object that should never
 * change, such as its UID.
 */
export interface Portion {
  /** Identifies the portion: informers of the same set and the same portion are shared. */
  readonly id: string;
  /** No object belongs to it now. */
  readonly isEmpty: boolean;
  /** Whether an object belongs to it now. */
  has(object: AnyObject): boolean;
  /** Whether all objects of a namespace belong to it, those of all namespaces for `undefined`. */
  hasAll(namespace: string | undefined): boolean;
  /** The selector for a server that divides collections; `undefined` when no server can divide in this way. */
  readonly shardSelector: string | undefined;
  /** A label selector that matches the portion, and perhaps more. */
  readonly labels: string | undefined;
  /** Calls the listener after each change; `isMore` says whether objects have joined. */
  onChange(listener: (isMore: boolean) => void): Disposable;
}

/** The collections that a server does not divide. A server that cannot do it answers with all objects. */
export class DividedCollections {
  readonly #whole = new Set<string>();

  /** Whether the server may be asked for a part of the collection at this path. */
  mayAsk(path: string): boolean {
    return !this.#whole.has(path);
  }

  /** The server has answered a request for a part with the whole collection, or with an error. */
  giveUp(path: string): void {
    this.#whole.add(path);
  }
}

export class PortionSink implements ReflectorSink {
  readonly #sink: ReflectorSink;
  readonly #portion: Portion;
  readonly #store: Pick<ReadonlyStore, "get">;

  constructor(sink: ReflectorSink, { portion, store }: { portion: Portion; store: Pick<ReadonlyStore, "get"> }) {
    this.#sink = sink;
    this.#portion = portion;
    this.#store = store;
  }

  get resourceVersion(): string {
    return this.#sink.resourceVersion;
  }

  beginList(reason: ListReason): void {
    this.#sink.beginList(reason);
  }

  page(objects: readonly AnyObject[], resourceVersion: string): void {
    this.#sink.page(
      objects.filter((object) => this.#portion.has(object)),
      resourceVersion,
    );
  }

  endList(resourceVersion: string): void {
    this.#sink.endList(resourceVersion);
  }

  event(type: WatchType, object: AnyObject): void {
    if (type === "BOOKMARK" || this.#portion.has(object)) return this.#sink.event(type, object);
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const known = this.#store.get(keyString({ name, namespace }));
    // Another replica's object only shows how far the watch has come.
    if (known?.metadata.uid !== uid) return this.#sink.event("BOOKMARK", object);
    // The object has left the portion, as a child does that gets another owner.
    this.#sink.event("DELETED", { ...known, metadata: { ...known.metadata, resourceVersion } });
  }

  flush(): void {
    this.#sink.flush();
  }

  vanish(): void {
    this.#sink.vanish();
  }
}
