/** Streaming lists: a list that arrives as the beginning of a watch. */
import type { ListRoom } from "../kube/api/list-room.ts";
import { MOST_BYTES } from "../kube/api/page-size.ts";
import { MOST_COLLECTION_BYTES } from "../kube/limits.ts";
import { END_OF_LIST } from "../kube/api/metadata-stream.ts";
import type { WatchType } from "../kube/api/watch.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { failureOf } from "./reflector-state.ts";

/** The way in which a reflector lists: in pages, as a stream, or whichever suits the collection and the server. */
export type ListMode = "auto" | "pages" | "stream";

/** The way in which a reflector lists unless its options name another. */
export const DEFAULT_LIST_MODE: ListMode = "auto";

/**
 * A server that supports streaming sends the end bookmark right after the last object; without it the stream is given
 * up.
 */
export const STREAM_DEADLINE_MS = 7_000;
/** Even a busy server sends this many objects per millisecond. */
const STREAMED_PER_MS = 10;
/** Fewer objects arrive as fast in pages. */
const STREAMED_FROM = 20_000;
/** Consecutive incomplete streams after which the resource is listed in pages. */
const BROKEN_STREAMS = 3;

interface StreamOptions {
  readonly list?: ListMode | undefined;
  readonly room?: ListRoom | undefined;
  readonly streams: StreamMemory;
  readonly clock: Clock;
}

/** Remembers the resources that a server cannot stream, for all its reflectors. */
export class StreamMemory {
  readonly #unusable = new Map<string, string>();
  readonly #broken = new Map<string, number>();

  /** @param path of the collection. */
  isUsable(path: string): boolean {
    return !this.#unusable.has(path);
  }

  /** Why the resource is listed in pages; `undefined` while it may be streamed. */
  reason(path: string): string | undefined {
    return this.#unusable.get(path);
  }

  giveUp(path: string, reason: string): void {
    this.#unusable.set(path, reason);
  }

  /** The server closed a stream before the end bookmark. */
  broken(path: string): void {
    const count = (this.#broken.get(path) ?? 0) + 1;
    this.#broken.set(path, count);
    if (count >= BROKEN_STREAMS) this.giveUp(path, `${count} streaming lists were closed before the end bookmark`);
  }

  complete(path: string): void {
    this.#broken.delete(path);
  }
}

/**
 * Whether the metadata of a collection of that many objects is streamed, as far as the server is known to support it.
 */
export function mayStreamMetadata(objects: number, path: string, options: StreamOptions): boolean {
  const { list = DEFAULT_LIST_MODE, streams, room } = options;
  if (list === "pages" || !streams.isUsable(path)) return false;
  // A stream cannot be paused between two objects to free memory.
  return list === "stream" || (objects >= STREAMED_FROM && (room === undefined || room.pageBytes >= MOST_BYTES));
}

/**
 * Tries a streaming list. If it is refused or does not end in time, the collection is not streamed again.
 *
 * @param run returns `undefined` when the server closed the stream before the end bookmark.
 * @returns `undefined` when the collection must be listed in pages.
 * @throws the error when the server cannot answer now, or the signal's reason.
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
    const result = await run(AbortSignal.any([signal, late.signal]));
    if (result === undefined) streams.broken(path);
    else streams.complete(path);
    return result;
  } catch (error) {
    if (signal.aborted || (!late.signal.aborted && failureOf(error).kind !== "other")) throw error;
    streams.giveUp(path, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** Collects the objects, and their changes, that arrive before the end bookmark. */
export class InitialEvents {
  readonly #path: string;
  readonly #objects = new Map<string, AnyObject>();
  #characters = 0;

  /** @param path of the collection, for the error. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Counts a line of the stream. @throws Error when the stream is larger than a list that is held as a whole may be.
   */
  count(line: string): void {
    this.#characters += line.length;
    if (this.#characters <= MOST_COLLECTION_BYTES) return;
    const most = MOST_COLLECTION_BYTES / 1024 / 1024;
    throw new Error(`Cannot list ${this.#path} as a stream: it is larger than ${most} MiB`);
  }

  /**
   * Takes an event.
   *
   * @returns the resource version of the list when the event is the end bookmark.
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
