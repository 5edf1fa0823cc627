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
 * Which objects belong to it changes while the process runs; of an object's own fields it looks only at such as tell
 * its part, which should never change.
 */
export interface Portion {
  /** Informers of equal sets and equal portions are one. */
  readonly id: string;
  /** No object belongs to it now. */
  readonly isEmpty: boolean;
  /** Whether an object belongs to it now. */
  has(object: AnyObject): boolean;
  /** Whether all objects of a namespace belong to it, those of all namespaces for `undefined`. */
  hasAll(namespace: string | undefined): boolean;
  /** What a server that divides collections is asked for; `undefined` when no server can divide in this way. */
  readonly shardSelector: string | undefined;
  /** A label selector that shows the portion, and perhaps more. */
  readonly labels: string | undefined;
  /** Told after each change, whether more belongs to it than before. */
  onChange(listener: (isMore: boolean) => void): Disposable;
}

/** Which collections a server does not divide, found out by asking: one that cannot do it shows everything. */
export class DividedCollections {
  readonly #whole = new Set<string>();

  /** Whether the server may be asked for a part of the collection at this path. */
  mayAsk(path: string): boolean {
    return !this.#whole.has(path);
  }

  /** It has shown all of it when it was asked for a part, or has refused to. */
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
    // What is somebody else's says only how far the server has come.
    if (known?.metadata.uid !== uid) return this.#sink.event("BOOKMARK", object);
    // It has left the portion, as a child does that gets another owner.
    this.#sink.event("DELETED", { ...known, metadata: { ...known.metadata, resourceVersion } });
  }

  flush(): void {
    this.#sink.flush();
  }

  vanish(): void {
    this.#sink.vanish();
  }
}
