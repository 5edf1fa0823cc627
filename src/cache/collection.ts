/** Lists one collection of the server, in pages or as a stream, and watches it; everything goes into a sink. */
import { listPages } from "../kube/api/list.ts";
import { plainObject } from "../kube/api/listed-metadata.ts";
import { collectionPath, type Mapping } from "../kube/api/mapper.ts";
import { watch, type WatchOptions } from "../kube/api/watch.ts";
import { isApiError, isBadRequest } from "../kube/errors/api-error.ts";
import { NoRoomError } from "../kube/api/list-room.ts";
import { sleep } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { toStub } from "./object-transformer.ts";
import type { CompleteOptions } from "./reflector-options.ts";
import { failureOf, type ListReason } from "./reflector-state.ts";
import { listSelectively } from "./selective-list.ts";
import {
  DEFAULT_LIST_MODE,
  InitialEvents,
  mayStreamMetadata,
  STREAM_DEADLINE_MS,
  tryStream,
} from "./streaming-list.ts";

/**
 * Watches are renewed after 180 to 220 seconds: before load balancers cut them, and spread so that they do not end
 * together.
 */
const WATCH_SECONDS = 180;
const WATCH_SPREAD_SECONDS = 40;
/** How long a watch may outlive its `timeoutSeconds` before it counts as dead. */
const IDLE_GRACE_MS = 10_000;
const NONE = (): boolean => false;

export interface StreamEnd {
  /** When the watch began; when the list began if it did not complete. */
  readonly began: number;
  /** `undefined` when the server closed the watch in order. */
  readonly error?: unknown;
}

interface Listing {
  readonly reason: ListReason;
  readonly signal: AbortSignal;
}

export class Collection {
  readonly #options: CompleteOptions;
  /** The bytes that watches have brought since the last list. */
  #brought = 0;

  constructor(options: CompleteOptions) {
    this.#options = options;
  }

  /** Whether to list whole objects as a stream at the beginning of the watch. */
  async isStreamed(signal: AbortSignal): Promise<boolean> {
    const { list = DEFAULT_LIST_MODE, streams, wants, metadataOnly } = this.#options;
    if (list !== "stream" || metadataOnly === true || wants?.() !== undefined) return false;
    return streams.isUsable(await this.#path(signal));
  }

  /** Lists in pages. @returns the resource version from which a watch continues. */
  async list(reason: ListReason, signal: AbortSignal): Promise<string> {
    const { listSemaphore, sink, onStatus, onList } = this.#options;
    using _turn = await listSemaphore.acquire(signal);
    onStatus({ kind: "listing" });
    const mapping = await this.#mapping(signal);
    onList?.(reason);
    sink.beginList(reason);
    const resourceVersion =
      this.#options.portion?.isEmpty === true
        ? await this.#listNothing(mapping, signal)
        : ((await this.#listSelectively(mapping, { reason, signal })) ??
          (await this.#listWhole(mapping, { reason, signal })));
    signal.throwIfAborted();
    sink.endList(resourceVersion);
    this.#brought = 0;
    return resourceVersion;
  }

  /** Only asks the server whether the collection could be listed, because none of its objects is needed. */
  async #listNothing(mapping: Mapping, signal: AbortSignal): Promise<string> {
    const { namespace, labels, fields, transport } = this.#options;
    const path = collectionPath(mapping, namespace);
    const isEnough = (): false => false;
    const { resourceVersion } = await listPages(transport, {
      path,
      labels,
      fields,
      limit: 1,
      signal,
      onPage: isEnough,
    });
    return resourceVersion;
  }

  /** Lists metadata when that is all, or most, of the needed data. @returns `undefined` when it is not. */
  async #listSelectively(mapping: Mapping, { reason, signal }: Listing): Promise<string | undefined> {
    const { sink, metadataOnly, wants, namespace } = this.#options;
    const isWanted = metadataOnly === true ? () => NONE : wants;
    if (isWanted?.() === undefined) return undefined;
    const path = collectionPath(mapping, namespace);
    const listed = await listSelectively({
      ...this.#options,
      mapping,
      labels: this.#labels,
      signal,
      wants: isWanted,
      reduce: metadataOnly === true ? plainObject : toStub,
      mayStreamMetadata: (objects) => mayStreamMetadata(objects, path, this.#options),
      stream: (objects, run) => tryStream({ objects, path, signal }, this.#options, run),
      onObjects: (objects, resourceVersion) => {
        checkVersion(resourceVersion, path);
        sink.page(objects, resourceVersion);
      },
      onRestart: () => sink.beginList(reason),
    });
    if (listed === undefined) sink.beginList(reason);
    return listed;
  }

  async #listWhole(mapping: Mapping, { reason, signal }: Listing): Promise<string> {
    const { sink, namespace, fields, pageSize: limit, transport, room, onLeftOut, divided } = this.#options;
    const path = collectionPath(mapping, namespace);
    const shards = this.#shards(path);
    const listed = listPages<AnyObject>(transport, {
      path,
      labels: this.#labels,
      fields,
      shards,
      limit,
      room,
      signal,
      fullListIfExpired: true,
      onRestart: () => sink.beginList(reason),
      onLeftOut,
      onPage: (objects, page) => {
        signal.throwIfAborted();
        checkVersion(page.resourceVersion, path);
        if (!page.isPart && this.#isMoreThan(shards, objects)) divided.giveUp(path);
        sink.page(objects, page.resourceVersion);
      },
    });
    try {
      return (await listed).resourceVersion;
    } catch (error) {
      if (shards === undefined || !refusesShards(error)) throw error;
      divided.giveUp(path);
      sink.beginList(reason);
      return this.#listWhole(mapping, { reason, signal });
    }
  }

  /**
   * Returns the hash ranges to request; `undefined` for all, and once the server is known not to divide the collection.
   */
  #shards(path: string): string | undefined {
    const { portion, divided } = this.#options;
    return portion !== undefined && divided.mayAsk(path) ? portion.shardSelector : undefined;
  }

  /**
   * Whether a page has objects outside the requested ranges: the server has then ignored them, and the sink filters.
   */
  #isMoreThan(shards: string | undefined, objects: readonly AnyObject[]): boolean {
    const { portion } = this.#options;
    if (shards === undefined || shards !== portion!.shardSelector) return false; // or the portion is another one by now
    return objects.some((object) => !portion!.has(object));
  }

  get #labels(): string | undefined {
    const { labels, portion } = this.#options;
    if (portion?.labels === undefined) return labels;
    return labels ? `${labels},${portion.labels}` : portion.labels;
  }

  /** Lists and watches on one connection: the stream becomes the watch once the list is complete. */
  async stream(
    reason: ListReason,
    signal: AbortSignal,
    onComplete: (resourceVersion: string) => void,
  ): Promise<StreamEnd> {
    const { transport, clock, listSemaphore, sink, streams, fields, onStatus, onList } = this.#options;
    const path = await this.#path(signal);
    const turn = await listSemaphore.acquire(signal);
    const late = new AbortController();
    const timer = clock.setTimeout(
      () => late.abort(new Error(`The streaming list did not end within ${STREAM_DEADLINE_MS / 1_000} s`)),
      STREAM_DEADLINE_MS,
    );
    let initial: InitialEvents | undefined = new InitialEvents(path);
    let began = clock.now();
    onStatus({ kind: "listing" });
    onList?.(reason);
    sink.beginList(reason);
    const complete = (resourceVersion: string, objects: readonly AnyObject[]): void => {
      initial = undefined;
      turn[Symbol.dispose]();
      timer[Symbol.dispose]();
      streams.complete(path);
      sink.page(objects, resourceVersion);
      sink.endList(resourceVersion);
      this.#brought = 0;
      began = clock.now();
      onComplete(resourceVersion);
      onStatus({ kind: "watching" });
    };
    try {
      await watch(transport, {
        path,
        labels: this.#labels,
        fields,
        shards: this.#shards(path),
        ...this.#duration(),
        sendInitialEvents: true,
        ...this.#type(),
        ...this.#bounds(path),
        signal: AbortSignal.any([signal, late.signal]),
        onLine: (line) => initial?.count(line),
        onEvent: (type, object) => {
          if (initial === undefined) return sink.event(type, object);
          const end = initial.take(type, object);
          if (end !== undefined) complete(end, initial.objects);
        },
        onBatch: () => {
          if (initial === undefined) sink.flush();
        },
      });
    } catch (error) {
      if (initial === undefined) sink.flush();
      else if (!signal.aborted && (late.signal.aborted || failureOf(error).kind === "other")) {
        streams.giveUp(path, error instanceof Error ? error.message : String(error));
      }
      return { began, error };
    } finally {
      turn[Symbol.dispose]();
      timer[Symbol.dispose]();
    }
    if (initial === undefined) return { began };
    streams.broken(path);
    return { began, error: new Error("The streaming list was closed before the end bookmark") };
  }

  async watch(resourceVersion: string, signal: AbortSignal, onOpen: () => void): Promise<void> {
    const { transport, sink, fields, onStatus, portion, clock } = this.#options;
    const duration = this.#duration();
    if (portion?.isEmpty === true) {
      onOpen();
      onStatus({ kind: "watching" });
      return sleep(duration.timeoutSeconds * 1_000, { clock, signal });
    }
    try {
      const path = await this.#path(signal);
      await watch(transport, {
        path,
        resourceVersion,
        labels: this.#labels,
        fields,
        shards: this.#shards(path),
        ...duration,
        ...this.#type(),
        ...this.#bounds(path),
        signal,
        onOpen: () => {
          onOpen();
          onStatus({ kind: "watching" });
        },
        onEvent: (type, object) => sink.event(type, object),
        onBatch: () => sink.flush(),
      });
    } finally {
      // An ERROR event ends the stream in the middle of a batch.
      sink.flush();
    }
  }

  /**
   * The kind that the watch must show: a server or proxy that confuses its streams must not fill the store with other
   * kinds.
   */
  #type(): Pick<WatchOptions, "of" | "metadataOnly" | "onOther" | "onLeftOut"> {
    const { metadataOnly, resource, onOther, onLeftOut } = this.#options;
    const { apiVersion, kind } = resource;
    const of = { apiVersion, kind };
    return { of, metadataOnly: metadataOnly === true ? of : undefined, onLeftOut, ...(onOther && { onOther }) };
  }

  /**
   * Ends a watch that has brought much while memory is full; otherwise the process would run out of memory.
   */
  #bounds(path: string): Pick<WatchOptions, "onBytes"> {
    const { room } = this.#options;
    if (room === undefined) return {};
    return {
      onBytes: (bytes) => {
        this.#brought += bytes;
        room.brought(bytes);
        if (room.isFull && this.#brought > room.pageBytes) throw new NoRoomError(`the watch of ${path}`);
      },
    };
  }

  #duration(): { readonly timeoutSeconds: number; readonly idleTimeout: number } {
    const timeoutSeconds = WATCH_SECONDS + Math.floor(this.#options.random() * (WATCH_SPREAD_SECONDS + 1));
    return { timeoutSeconds, idleTimeout: timeoutSeconds * 1000 + IDLE_GRACE_MS };
  }

  async #path(signal: AbortSignal): Promise<string> {
    return collectionPath(await this.#mapping(signal), this.#options.namespace);
  }

  async #mapping(signal: AbortSignal): Promise<Mapping> {
    const { mapper, resource, namespace } = this.#options;
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, signal));
    if (namespace !== "" && !mapping.namespaced) {
      mapper.invalidate(); // the definition may be recreated with another scope
      throw new Error(`Cannot watch ${resource.kind} in namespace ${namespace}: the kind is cluster-scoped`);
    }
    return mapping;
  }
}

/** A watch continues from the version of the list, so a list without a version is useless. */
function checkVersion(resourceVersion: string, path: string): void {
  if (resourceVersion === "") throw new Error(`Cannot list ${path}: the list has no metadata.resourceVersion`);
}

/** kube-apiserver answers with 500 to a selector that it cannot read. */
function refusesShards(error: unknown): boolean {
  return isBadRequest(error) || (isApiError(error) && error.message.includes("shard selector"));
}
