/** A list that comes as the beginning of a watch, on one connection with it. */
import { END_OF_LIST } from "../kube/api/metadata-stream.ts";
import type { WatchType } from "../kube/api/watch.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { failureOf } from "./reflector-state.ts";

/** How a reflector lists: page by page, as a stream, or as suits what there is and what the server can. */
export type ListMode = "auto" | "pages" | "stream";

/** A server that has told everything says so at once; one that never says it would be waited for in vain. */
export const STREAM_DEADLINE_MS = 7_000;
/** A server that has much to do sends at least so many objects in a second. */
const STREAMED_PER_MS = 10;
/** Fewer objects come as soon in pages. */
const STREAMED_FROM = 20_000;
/** Streams that ended before their end, in a row, after which the resource is listed by pages. */
const BROKEN_STREAMS = 3;

interface StreamOptions {
  readonly list?: ListMode | undefined;
  readonly streams: StreamMemory;
  readonly clock: Clock;
}

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

/** Whether that many objects of a collection are better streamed. */
export function mayStream(objects: number, path: string, { list, streams }: StreamOptions): boolean {
  if (list === "pages" || !streams.isUsable(path)) return false;
  return list === "stream" || objects >= STREAMED_FROM;
}

/**
 * Tries a streaming list; one that is refused, or does not end in time, is not tried again for the collection.
 *
 * @param run gives `undefined` when the server ended the stream before its end.
 * @returns `undefined` when the collection is to be listed by pages.
 * @throws when the server cannot answer now, or the signal's reason.
 */
export async function tryStream<T>(
  { objects, path, signal }: { readonly objects: number; readonly path: string; readonly signal: AbortSignal },
  { streams, clock }: StreamOptions,
  run: (signal: AbortSignal) => Promise<T | undefined>,
): Promise<T | undefined> {
  const late = new AbortController();
  const deadline = STREAM_DEADLINE_MS + objects / STREAMED_PER_MS;
  using _timer = clock.setTimeout(
    () => late.abort(new Error(`The streaming list did not end within ${Math.round(deadline / 1_000)} s`)),
    deadline,
  );
  try {
    const listed = await run(AbortSignal.any([signal, late.signal]));
    if (listed === undefined) streams.broken(path);
    else streams.complete(path);
    return listed;
  } catch (error) {
    if (signal.aborted || (!late.signal.aborted && failureOf(error).kind !== "other")) throw error;
    streams.giveUp(path, error instanceof Error ? error.message : String(error));
    return undefined;
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
    if (type === "BOOKMARK")
      return metadata.annotations?.[END_OF_LIST] === "true" ? metadata.resourceVersion : undefined;
    if (type === "DELETED") this.#objects.delete(keyString(metadata));
    else this.#objects.set(keyString(metadata), object);
    return undefined;
  }

  get objects(): readonly AnyObject[] {
    return [...this.#objects.values()];
  }
}
