/** Lists and watches one collection forever. */
import { isNotFound } from "../kube/errors/api-error.ts";
import { monotonic, sleep } from "../platform/clock.ts";
import { Collection } from "./collection.ts";
import { ListSemaphore } from "./list-semaphore.ts";
import { DividedCollections } from "./portion.ts";
import type { CompleteOptions, ReflectorOptions } from "./reflector-options.ts";
import { StreamMemory } from "./streaming-list.ts";
import {
  failureOf,
  next,
  START,
  type ListReason,
  type ReflectorEvent,
  type ReflectorState,
} from "./reflector-state.ts";

/** Reflectors that waited for a server resume spread over this time. */
const STAGGER_MS = 500;

/**
 * Lists and watches one collection forever and fills a sink.
 *
 * **Guarantees.** Every change reaches the sink in order, though a list may combine several into one. It never requests
 * a version older than what the sink has seen, unless the server's history went back. No failure ends it.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#Reflector
 */
export class Reflector {
  readonly #options: CompleteOptions;
  readonly #collection: Collection;
  #state: ReflectorState = START;
  #step: AbortController | undefined;
  #relist: ListReason | undefined;
  #rewatch = false;

  constructor(options: ReflectorOptions) {
    const { random = Math.random, listSemaphore = new ListSemaphore() } = options;
    const { streams = new StreamMemory(), divided = new DividedCollections(), onStatus = () => {} } = options;
    this.#options = { ...options, clock: monotonic(options.clock), random, listSemaphore, streams, divided, onStatus };
    this.#collection = new Collection(this.#options);
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Runs until the signal aborts; failures are retried and never thrown. */
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
        const again = this.#rewatch && reason === undefined ? this.#state : undefined;
        this.#rewatch = false;
        this.#relist = undefined;
        if (again?.kind === "watching") this.#state = { ...again, resourceVersion: this.#options.sink.resourceVersion };
        else this.#state = next(this.#state, reason === undefined ? event : { type: "relist", reason });
      }
    } finally {
      checks[Symbol.dispose]();
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Compares the stored objects with a list from time to time. */
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

  /** Lists everything again: at once, or after the current wait. */
  relist(reason: ListReason): void {
    const { kind } = this.#state;
    if (kind === "pausing" || kind === "disconnected") this.#state = next(this.#state, { type: "relist", reason });
    else {
      this.#relist = reason;
      this.#step?.abort(new Error("The reflector lists again"));
    }
  }

  /** Begins the watch again from its present version, because fewer objects must be watched than before. */
  rewatch(): void {
    if (this.#state.kind !== "watching") return;
    this.#rewatch = true;
    this.#step?.abort(new Error("The reflector watches less"));
  }

  async #perform(state: ReflectorState, signal: AbortSignal): Promise<ReflectorEvent> {
    const { clock, sink } = this.#options;
    const collection = this.#collection;
    let began = clock.now();
    const closed = (): ReflectorEvent => ({
      type: "closed",
      resourceVersion: sink.resourceVersion,
      elapsed: clock.now() - began,
    });
    try {
      switch (state.kind) {
        case "listing": {
          const { reason } = state;
          if (await collection.isStreamed(signal)) {
            const end = await collection.stream(reason, signal, (resourceVersion) => {
              this.#state = next(this.#state, { type: "listed", resourceVersion });
            });
            began = end.began;
            if (end.error === undefined) return closed();
            // Streaming was given up before the list was complete: list in pages at once.
            const isOver = signal.aborted || this.#state.kind !== "listing" || (await collection.isStreamed(signal));
            if (isOver) throw end.error;
          }
          return { type: "listed", resourceVersion: await collection.list(reason, signal) };
        }
        case "watching":
          await collection.watch(state.resourceVersion, signal, () => {
            began = clock.now();
          });
          return closed();
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
