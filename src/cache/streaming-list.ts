/** A list that comes as the beginning of a watch, on one connection with it. */
import type { WatchType } from "../kube/watch.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";

/** How a reflector lists: page by page, or as the beginning of its watch. */
export type ListMode = "pages" | "stream";

/** A server that has told everything says so at once; one that never says it would be waited for in vain. */
export const STREAM_DEADLINE_MS = 7_000;
/** Streams that ended before their end, in a row, after which the resource is listed by pages. */
const BROKEN_STREAMS = 3;

/** Which resources a server cannot stream, found out once for all reflectors. */
export class StreamMemory {
  readonly #unusable = new Map<string, string>();
  readonly #broken = new Map<string, number>();

  /** @param path of the collection. */
  isUsable(path: string): boolean {
    return !this.#unusable.has(path);
  }

  /** Why the resource is listed by pages; `undefined` while it may be streamed. */
  reason(path: string): string | undefined {
    return this.#unusable.get(path);
  }

  giveUp(path: string, reason: string): void {
    this.#unusable.set(path, reason);
  }

  /** The server closed a stream before its end. */
  broken(path: string): void {
    const count = (this.#broken.get(path) ?? 0) + 1;
    this.#broken.set(path, count);
    if (count >= BROKEN_STREAMS) this.giveUp(path, `${count} streaming lists ended before their end`);
  }

  complete(path: string): void {
    this.#broken.delete(path);
  }
}

/** Collects what comes before the end bookmark: the objects, and changes of them meanwhile. */
export class InitialEvents {
  readonly #objects = new Map<string, AnyObject>();

  /**
   * Takes an event.
   *
   * @returns the version of the list, when this was its end.
   */
  take(type: WatchType, object: AnyObject): string | undefined {
    const { metadata } = object;
    if (type === "BOOKMARK") return metadata.annotations?.[END] === "true" ? metadata.resourceVersion : undefined;
    if (type === "DELETED") this.#objects.delete(keyString(metadata));
    else this.#objects.set(keyString(metadata), object);
    return undefined;
  }

  get objects(): readonly AnyObject[] {
    return [...this.#objects.values()];
  }
}

/** @see https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists */
const END = "k8s.io/initial-events-end";
