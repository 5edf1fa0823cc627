/** Lets through to a sink what belongs to a portion, and nothing else. */
import type { WatchType } from "../kube/api/watch.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { Portion } from "./portion.ts";
import type { ReflectorSink } from "./reflector-options.ts";
import type { ListReason } from "./reflector-state.ts";
import type { ReadonlyStore } from "./store.ts";

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
