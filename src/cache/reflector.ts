/** Lists and watches one collection, for ever. */
import { isNotFound } from "../kube/api-error.ts";
import { listPages } from "../kube/list.ts";
import { collectionPath, type RestMapper } from "../kube/mapper.ts";
import type { Transport } from "../kube/transport.ts";
import { watch, type WatchType } from "../kube/watch.ts";
import { sleep, systemClock, type Clock } from "../platform/clock.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { InformerState } from "./informer-state.ts";
import { ListGate } from "./list-gate.ts";
import { InitialEvents, STREAM_DEADLINE_MS, StreamMemory, type ListMode } from "./streaming-list.ts";
import {
  failureOf,
  next,
  START,
  type ListReason,
  type ReflectorEvent,
  type ReflectorState,
} from "./reflector-state.ts";

/** What takes in what a reflector finds. */
export interface ReflectorSink {
  /** Of the last list, event or bookmark. */
  readonly resourceVersion: string;
  /** Also begins again what was not ended. */
  beginList(reason: ListReason): void;
  page(objects: readonly AnyObject[], resourceVersion: string): void;
  endList(resourceVersion: string): void;
  event(type: WatchType, object: AnyObject): void;
  /** Events have been told, and the next ones are not there yet. */
  flush(): void;
  /** The kind does not exist any more. */
  vanish(): void;
}

export interface ReflectorOptions {
  readonly resource: Resource;
  /** Empty for all. */
  readonly namespace: string;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly transport: Transport;
  readonly mapper: RestMapper;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** From 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Shared by reflectors that must not list all at once. @default none */
  readonly gate?: ListGate | undefined;
  readonly sink: ReflectorSink;
  /** Milliseconds after which everything is listed again, about, to find out what was missed. @default never */
  readonly checkEvery?: number | undefined;
  /** Objects of a page. @default 500 */
  readonly pageSize?: number | undefined;
  /** How to list. A resource that the server cannot stream is listed by pages, from then on. @default "pages" */
  readonly list?: ListMode | undefined;
  /** Shared by reflectors of one server. @default its own */
  readonly streams?: StreamMemory | undefined;
  /** Which objects are wanted whole, told from their metadata; `undefined` when all are. @default all */
  readonly wants?: (() => ((object: AnyObject) => boolean) | undefined) | undefined;
  /** The server need not send more than metadata. @default false */
  readonly metadataOnly?: boolean | undefined;
  readonly onStatus?: ((status: InformerState) => void) | undefined;
  /** A full list has begun. */
  readonly onList?: ((reason: ListReason) => void) | undefined;
}

type Complete = ReflectorOptions & {
  readonly clock: Clock;
  readonly random: () => number;
  readonly gate: ListGate;
  readonly streams: StreamMemory;
  readonly onStatus: (status: InformerState) => void;
};

/** Watches are renewed after 180 to 220 seconds: before load balancers cut them, and not all at once. */
const WATCH_SECONDS = 180;
const WATCH_SPREAD_SECONDS = 40;
/** A watch that outlives its time by this much is dead. */
const IDLE_GRACE_MS = 10_000;
const NONE_WHOLE = (): boolean => false;
/** Reflectors that waited for one server come back spread over this. */
const STAGGER_MS = 500;

/**
 * Lists and watches one collection, for ever, and tells a sink.
 *
 * **Guarantees.** Every change reaches the sink, in order, though a list may fold several into one. A version is never
 * asked for that is older than what the sink has seen, unless the server's history went back. No failure ends it.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#Reflector
 */
export class Reflector {
  readonly #options: Complete;
  #state: ReflectorState = START;
  #step: AbortController | undefined;
  #relist: ListReason | undefined;

  constructor(options: ReflectorOptions) {
    const { clock = systemClock, random = Math.random, gate = new ListGate() } = options;
    const { streams = new StreamMemory(), onStatus = () => {} } = options;
    this.#options = { ...options, clock, random, gate, streams, onStatus };
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Runs until the signal aborts; every failure is part of it. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#step?.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const checks = this.#checks();
    try {
      while (!signal.aborted) {
        this.#step = new AbortController();
        const event = await this.#perform(this.#state, this.#step.signal);
        if (signal.aborted) return;
        const reason = this.#relist;
        this.#relist = undefined;
        this.#state = next(this.#state, reason === undefined ? event : { type: "relist", reason });
      }
    } finally {
      checks[Symbol.dispose]();
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Trusts nothing for ever: every now and then what is held is compared with a list. */
  #checks(): Disposable {
    const { clock, random, checkEvery = 0 } = this.#options;
    let timer: Disposable | undefined;
    const arm = (): void => {
      timer = clock.setTimeout(
        () => {
          if (this.#state.kind === "watching") this.relist("check");
          arm();
        },
        checkEvery * (0.9 + 0.2 * random()),
      );
    };
    if (checkEvery > 0) arm();
    return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
  }

  /** Lists everything again: at once, or where it waits as soon as that is over. */
  relist(reason: ListReason): void {
    const { kind } = this.#state;
    if (kind === "pausing" || kind === "disconnected") this.#state = next(this.#state, { type: "relist", reason });
    else {
      this.#relist = reason;
      this.#step?.abort(new Error("The reflector lists again"));
    }
  }

  async #perform(state: ReflectorState, signal: AbortSignal): Promise<ReflectorEvent> {
    const { clock, sink } = this.#options;
    let began = clock.now();
    try {
      switch (state.kind) {
        case "listing": {
          const { list, streams } = this.#options;
          const isStreamed = list === "stream" && streams.isUsable(await this.#path(signal));
          if (!isStreamed) return { type: "listed", resourceVersion: await this.#list(state.reason, signal) };
          const closed = await this.#stream(state.reason, signal);
          began = closed.began;
          if (closed.error !== undefined && !signal.aborted && this.#state.kind === "listing") {
            const path = await this.#path(signal);
            if (!streams.isUsable(path)) {
              return { type: "listed", resourceVersion: await this.#list(state.reason, signal) };
            }
          }
          if (closed.error !== undefined) throw closed.error;
          return { type: "closed", resourceVersion: sink.resourceVersion, elapsed: clock.now() - began };
        }
        case "watching":
          await this.#watch(state.resourceVersion, signal, () => {
            began = clock.now();
          });
          return { type: "closed", resourceVersion: sink.resourceVersion, elapsed: clock.now() - began };
        case "pausing":
          await this.#pause(state, signal);
          return { type: "resume" };
        default:
          await this.#reconnect(state, signal);
          return { type: "resume" };
      }
    } catch (error) {
      return this.#caught(error, clock.now() - began);
    }
  }

  #caught(error: unknown, elapsed: number): ReflectorEvent {
    const { mapper, sink } = this.#options;
    if (isNotFound(error)) {
      mapper.invalidate();
      sink.vanish();
    }
    const resourceVersion = this.#state.kind === "watching" ? sink.resourceVersion : undefined;
    return { type: "failed", failure: failureOf(error), resourceVersion, elapsed };
  }

  async #list(reason: ListReason, signal: AbortSignal): Promise<string> {
    const { transport, gate, sink, labels, fields, pageSize, onStatus, onList } = this.#options;
    using _turn = await gate.enter(signal);
    onStatus({ kind: "listing" });
    const { mapper, resource, wants } = this.#options;
    const path = await this.#path(signal);
    const isWanted = this.#options.metadataOnly === true ? NONE_WHOLE : wants?.();
    onList?.(reason);
    sink.beginList(reason);
    const { resourceVersion } = await listPages<AnyObject>(transport, {
      path,
      labels,
      fields,
      limit: pageSize,
      // Most objects of an owned kind are somebody else's: their metadata tells, at a tenth of the bytes.
      partial: isWanted === undefined ? undefined : { ...mapper.known(resource)!, isWanted },
      signal,
      fullListIfExpired: true,
      onRestart: () => sink.beginList(reason),
      onPage: (objects, page) => {
        signal.throwIfAborted();
        sink.page(objects, page.resourceVersion);
      },
    });
    signal.throwIfAborted();
    sink.endList(resourceVersion);
    return resourceVersion;
  }

  /** Lists and watches on one connection: the state becomes that of a watch when the list is complete. */
  async #stream(reason: ListReason, signal: AbortSignal): Promise<{ began: number; error?: unknown }> {
    const { transport, clock, gate, sink, streams, labels, fields, onStatus, onList } = this.#options;
    const path = await this.#path(signal);
    const turn = await gate.enter(signal);
    const late = new AbortController();
    const timer = clock.setTimeout(
      () => late.abort(new Error(`The streaming list did not end within ${STREAM_DEADLINE_MS / 1_000} s`)),
      STREAM_DEADLINE_MS,
    );
    let initial: InitialEvents | undefined = new InitialEvents();
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
      began = clock.now();
      this.#state = next(this.#state, { type: "listed", resourceVersion });
      onStatus({ kind: "watching" });
    };
    try {
      await watch(transport, {
        path,
        labels,
        fields,
        ...this.#duration(),
        sendInitialEvents: true,
        metadataOnly: this.#metadataOnly(),
        signal: AbortSignal.any([signal, late.signal]),
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
    return { began, error: new Error("The streaming list ended before its end") };
  }

  #metadataOnly(): { readonly apiVersion: string; readonly kind: string } | undefined {
    const { metadataOnly, resource } = this.#options;
    return metadataOnly === true ? { apiVersion: resource.apiVersion, kind: resource.kind } : undefined;
  }

  #duration(): { readonly timeoutSeconds: number; readonly idleTimeout: number } {
    const timeoutSeconds = WATCH_SECONDS + Math.floor(this.#options.random() * (WATCH_SPREAD_SECONDS + 1));
    return { timeoutSeconds, idleTimeout: timeoutSeconds * 1000 + IDLE_GRACE_MS };
  }

  async #watch(resourceVersion: string, signal: AbortSignal, onOpen: () => void): Promise<void> {
    const { transport, sink, labels, fields, onStatus } = this.#options;
    try {
      await watch(transport, {
        path: await this.#path(signal),
        resourceVersion,
        labels,
        fields,
        ...this.#duration(),
        metadataOnly: this.#metadataOnly(),
        signal,
        onOpen: () => {
          onOpen();
          onStatus({ kind: "watching" });
        },
        onEvent: (type, object) => sink.event(type, object),
        onBatch: () => sink.flush(),
      });
    } finally {
      // An error event ends a batch before its time.
      sink.flush();
    }
  }

  async #path(signal: AbortSignal): Promise<string> {
    const { mapper, resource, namespace } = this.#options;
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, signal));
    if (namespace !== "" && !mapping.namespaced) {
      throw new Error(`Cannot watch ${resource.kind} in namespace ${namespace}: the kind is cluster-scoped`);
    }
    return collectionPath(mapping, namespace);
  }

  async #pause(state: ReflectorState & { kind: "pausing" }, signal: AbortSignal): Promise<void> {
    const { clock, random, onStatus } = this.#options;
    onStatus(state.status);
    await sleep(state.exact ? state.delay : (state.delay * (1 + random())) / 2, { clock, signal });
  }

  async #reconnect(state: ReflectorState & { kind: "disconnected" }, signal: AbortSignal): Promise<void> {
    const { transport, clock, random, onStatus } = this.#options;
    onStatus(state.status);
    await transport.reachability.wait(signal);
    await sleep(state.delay + random() * STAGGER_MS, { clock, signal });
  }
}
