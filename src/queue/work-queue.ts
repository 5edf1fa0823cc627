/** The work queue: keys, each queued at most once, in the order in which workers take them. */
import type { QueueMetrics, QueueReading } from "../observe/queue-metrics.ts";
import { type Clock, monotonic } from "../platform/clock.ts";
import type { Cause } from "../resource/cause.ts";
import { Debouncer, DelayedItems, MinInterval } from "./delayed-items.ts";
import { Entries, type Entry, type KeyState, type Parked, type QueueItem, withCause, withEarlier } from "./entries.ts";
import { exponential, type RateLimiter } from "./rate-limiter.ts";
import { DepthByPriority, ReadyItems } from "./ready-items.ts";

/** The priority of initial lists and resyncs: below that of changes. */
export const LOW_PRIORITY = -100;

export interface AddOptions {
  /** Milliseconds; of several adds the earliest time counts. @default 0 */
  readonly after?: number | undefined;
  /** A higher priority is served first; of several adds the highest counts. @default 0 */
  readonly priority?: number | undefined;
  /** Counts a failure of the key and delays it as long as the limiter says. @default false */
  readonly rateLimited?: boolean | undefined;
  readonly cause?: Cause | undefined;
  /** Causes of the run that ends with this addition; causes that were added since are newer. */
  readonly earlier?: readonly Cause[] | undefined;
}

/** Settings that may change while keys are queued. */
export interface WorkQueueSettings {
  /** @default exponential(5, 1_000_000) */
  readonly limiter?: RateLimiter | undefined;
  /** The minimum number of milliseconds between the beginnings of two runs of a key. @default 0 */
  readonly minInterval?: number | undefined;
  /**
   * Milliseconds without a change before a key is ready, so that a burst of changes causes one run. A key waits at most
   * ten times as long. It does not apply to retries and to keys with a delay of their own. @default 0
   */
  readonly debounce?: number | undefined;
  /** Called when an item becomes ready: synchronously by `add`, `done` and `expedite`, or by a timer. */
  readonly onReady?: (() => void) | undefined;
}

export interface WorkQueueOptions extends WorkQueueSettings {
  readonly name: string;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  readonly metrics?: Pick<QueueMetrics, "added" | "taken" | "done" | "retried" | "readFrom"> | undefined;
}

const NOW: AddOptions = Object.freeze({});

const STATES = { ready: "waiting", delayed: "delayed", retry: "failing", running: "running" } as const;

/**
 * A queue of keys for workers.
 *
 * **Guarantees.** A key is queued at most once and never with two workers: if it is added while a worker has it, it
 * returns once after `done`. Low priorities do not starve. A key that is done and forgotten leaves nothing behind.
 */
export class WorkQueue {
  readonly name: string;
  readonly #clock: Clock;
  readonly #metrics: WorkQueueOptions["metrics"];
  #limiter: RateLimiter;
  #onReady: (() => void) | undefined;
  readonly #entries = new Entries();
  readonly #ready = new ReadyItems<Entry>();
  readonly #delayed: DelayedItems<Entry>;
  readonly #parked = new Map<string, Parked>();
  /** The first in the order of the map has failed for longest. */
  readonly #failing = new Map<string, number>();
  readonly #depth = new DepthByPriority();
  #debouncer: Debouncer | undefined;
  #minInterval: MinInterval | undefined;
  readonly #waiters = new Waiters();
  #order = 0;
  #closed = false;
  #drained: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(options: WorkQueueOptions) {
    this.name = options.name;
    this.#clock = monotonic(options.clock);
    this.#delayed = new DelayedItems(this.#clock, () => this.#promote());
    this.#limiter = options.limiter ?? exponential();
    this.#metrics = options.metrics;
    this.#set(options);
    this.#metrics?.readFrom(() => this.#reading());
  }

  /**
   * Continues with other settings, and with none of the earlier ones.
   *
   * **Guarantees.** Every key keeps its place or its time, its causes and its attempt; a key that a worker has stays
   * with it.
   */
  configure(settings: WorkQueueSettings): void {
    const { limiter = exponential() } = settings;
    const carryOver = (key: string): void => {
      const failures = this.#limiter.failures(key);
      if (failures > 0) limiter.restore?.(key, failures);
    };
    for (const key of this.#entries.keys()) carryOver(key);
    for (const key of this.#parked.keys()) carryOver(key);
    this.#limiter = limiter;
    this.#set(settings);
  }

  /** The number of ready keys, including those that wait only for their own run to end. */
  get depth(): number {
    return this.#depth.total;
  }

  /** The depth by priority. While there are few priorities, a used one stays, at 0. */
  get depths(): ReadonlyMap<number, number> {
    return this.#depth.byPriority();
  }

  /** How many keys are delayed. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** The keys that workers have. Walks all entries. */
  get active(): readonly string[] {
    return Array.from(this.#entries.values(), ({ key }) => key);
  }

  /** How many keys workers have. */
  get processing(): number {
    return this.#entries.running;
  }

  /** Keys that are not retried until they are added again. */
  get parked(): ReadonlyMap<string, Parked> {
    return this.#parked;
  }

  /** The keys whose last run failed and that are retried, and since when they fail. */
  get failing(): ReadonlyMap<string, number> {
    return this.#failing;
  }

  /** All keys, each once: queued, delayed, with a worker, and parked. Walks all of them. */
  *keys(): Generator<KeyState> {
    for (const { key, priority, state, causes, at } of this.#entries.all()) {
      const attempt = this.#limiter.failures(key) + 1;
      yield { key, priority, causes, attempt, at, state: STATES[state] };
    }
    for (const [key, { reason, at }] of this.#parked) {
      const attempt = this.#limiter.failures(key) + 1;
      yield { key, priority: 0, causes: [], attempt, at, state: "parked", reason };
    }
  }

  /** Whether the key is queued, with a worker, or parked. */
  has(key: string): boolean {
    return this.#parked.has(key) || this.#entries.has(key);
  }

  /** The time at which a delayed key becomes ready; `undefined` when it is not delayed. */
  delayedUntil(key: string): number | undefined {
    const entry = this.#entries.get(key);
    return entry?.isDelayed === true ? entry.at : undefined;
  }

  /** Queues a key. It has no effect after `drain` or `stop`. */
  add(key: string, options: AddOptions = NOW): void {
    if (this.#closed) return;
    if (this.#parked.size > 0 && this.#parked.delete(key)) this.#limiter.forget(key);
    const { priority, rateLimited = false } = options;
    let delay = options.after ?? 0;
    if (rateLimited) {
      const backOff = this.#limiter.delay(key);
      delay = options.after === undefined ? backOff : Math.min(delay, backOff);
    }
    const before = this.#entries.queued;
    const entry = this.#entries.queue(key, priority ?? 0);
    const isNew = this.#entries.queued > before;
    if (isNew) this.#metrics?.added();
    if (options.earlier !== undefined) entry.causes = withEarlier(entry.causes, options.earlier);
    if (options.cause !== undefined) entry.causes = withCause(entry.causes, options.cause);
    if (this.#debouncer !== undefined && delay <= 0 && (isNew || entry.isDelayed)) {
      this.#raise(entry, priority);
      this.#debounce(entry, this.#debouncer, isNew);
      return;
    }
    if (this.#minInterval !== undefined) delay = Math.max(delay, this.#minInterval.remaining(key, this.#clock.now()));
    if (delay > 0) {
      this.#metrics?.retried();
      this.#delay(entry, { until: this.#clock.now() + delay, priority, isNew, retry: rateLimited });
    } else if (isNew || entry.isDelayed) {
      this.#raise(entry, priority);
      this.#undelay(entry);
      this.#makeReady(entry, this.#clock.now());
    } else if (priority !== undefined && priority > entry.priority) this.#move(entry, priority);
  }

  /** Takes the next ready item; the worker has its key until `done`. */
  take(): QueueItem | undefined {
    if (this.#delayed.size > 0) this.#promote();
    const entry = this.#ready.take();
    if (entry === undefined) return undefined;
    const now = this.#clock.now();
    this.#entries.run(entry);
    this.#depth.count(entry.priority, -1);
    this.#metrics?.taken((now - entry.at) / 1000);
    entry.place = now - entry.at;
    entry.order = this.#limiter.failures(entry.key) + 1;
    entry.at = now;
    this.#minInterval?.begin(entry.key, now);
    return entry;
  }

  /**
   * Waits for the next item.
   *
   * @returns `undefined` when the queue is stopped or drained.
   * @throws the signal's reason.
   */
  async get(signal?: AbortSignal): Promise<QueueItem | undefined> {
    signal?.throwIfAborted();
    const item = this.take();
    if (item !== undefined || this.#isOver()) return item;
    return await this.#waiters.wait(signal);
  }

  /** The worker has finished a key that it took. */
  done(key: string): void {
    const entry = this.#entries.done(key);
    if (entry === undefined) return;
    this.#metrics?.done((this.#clock.now() - entry.at) / 1000);
    const { again } = entry;
    if (again !== undefined && !again.isDelayed) {
      this.#ready.push(again);
      this.#offer();
    }
    this.#finishDrain();
  }

  /** Resets the back-off of a key: it is neither failing nor parked any more. */
  forget(key: string): void {
    this.#limiter.forget(key);
    this.#parked.delete(key);
    if (this.#failing.size > 0) this.#failing.delete(key);
  }

  /** Forgets failing and parked keys that another process works from now on, because that one reports them. */
  release(isElsewhere: (key: string) => boolean = () => true): void {
    for (const key of [...this.#parked.keys(), ...this.#failing.keys()]) if (isElsewhere(key)) this.forget(key);
  }

  /** Counts a key as failing until it succeeds, is parked, or is forgotten. */
  failed(key: string): void {
    if (!this.#failing.has(key)) this.#failing.set(key, this.#clock.now());
  }

  /** How many consecutive times the key has failed. */
  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  /**
   * Parks a key: it is not retried until it is added again, which resets its back-off. A key that was added after it
   * was taken is not parked.
   *
   * @returns whether it is parked now.
   */
  park(key: string, reason: string): boolean {
    if (this.#entries.get(key) !== undefined) {
      this.#limiter.forget(key);
      return false;
    }
    if (this.#closed) return false;
    this.#failing.delete(key);
    this.#parked.set(key, { reason, at: this.#clock.now() });
    return true;
  }

  /** Makes every delayed retry ready, because the reason of the failures is gone. Other delays stay. */
  expedite(): void {
    const now = this.#clock.now();
    const retries = this.#delayed.values().filter(({ state }) => state === "retry");
    retries.sort((a, b) => a.at - b.at);
    for (const entry of retries) {
      this.#undelay(entry);
      this.#makeReady(entry, now);
    }
  }

  /** Accepts no more keys, drops delayed ones, and resolves once the ready ones are done. */
  drain(): Promise<void> {
    this.#closed = true;
    for (const entry of this.#delayed.values()) this.#entries.drop(entry);
    this.#delayed.clear();
    this.#drained ??= Promise.withResolvers<void>();
    this.#finishDrain();
    return this.#drained.promise;
  }

  /** Drops everything that is queued and resolves a pending `drain`. */
  stop(): void {
    this.#closed = true;
    this.#delayed.clear();
    this.#ready.clear();
    this.#entries.dropQueued();
    this.#depth.clear();
    this.#waiters.releaseAll();
    this.#drained?.resolve();
  }

  #set({ onReady, minInterval = 0, debounce = 0 }: WorkQueueSettings): void {
    this.#onReady = onReady;
    this.#debouncer = debounce > 0 ? new Debouncer(debounce, this.#debouncer) : undefined;
    this.#minInterval = minInterval > 0 ? new MinInterval(minInterval, this.#minInterval) : undefined;
  }

  #delay(entry: Entry, when: { until: number; priority: number | undefined; isNew: boolean; retry: boolean }): void {
    const { until, priority, isNew, retry } = when;
    if (!isNew && !entry.isDelayed) {
      if (priority !== undefined && priority > entry.priority) this.#move(entry, priority);
      return;
    }
    this.#raise(entry, priority);
    if (!isNew && until >= entry.at) return;
    if (isNew) entry.order = this.#order++;
    else this.#delayed.remove(entry);
    this.#debouncer?.forget(entry.key);
    entry.state = retry ? "retry" : "delayed";
    entry.at = until;
    this.#delayed.add(entry);
  }

  /** Delays a key until its debounce time and its minimum interval are over. */
  #debounce(entry: Entry, debouncer: Debouncer, isNew: boolean): void {
    const wasDelaying = debouncer.isDelaying(entry.key);
    const now = this.#clock.now();
    const at = Math.max(debouncer.postpone(entry.key, now), now + (this.#minInterval?.remaining(entry.key, now) ?? 0));
    if (isNew) entry.order = this.#order++;
    else if (!wasDelaying && at >= entry.at) {
      debouncer.forget(entry.key); // an earlier delay of another kind stays as it is
      return;
    } else this.#delayed.remove(entry);
    entry.state = "delayed";
    entry.at = at;
    this.#delayed.add(entry);
  }

  #undelay(entry: Entry): void {
    this.#debouncer?.forget(entry.key);
    if (!entry.isDelayed) return;
    this.#delayed.remove(entry);
    entry.state = "ready";
  }

  #raise(entry: Entry, priority: number | undefined): void {
    if (priority !== undefined && priority > entry.priority) entry.priority = priority;
  }

  /** Moves a ready entry to the end of a higher priority. */
  #move(entry: Entry, priority: number): void {
    const free = entry.place >= 0;
    if (free) this.#ready.remove(entry);
    this.#depth.count(entry.priority, -1);
    entry.priority = priority;
    entry.order = this.#order++;
    this.#depth.count(priority, 1);
    if (free) this.#ready.push(entry);
  }

  #makeReady(entry: Entry, now: number): void {
    entry.at = now;
    entry.order = this.#order++;
    this.#depth.count(entry.priority, 1);
    if (this.#entries.running > 0 && this.#entries.isRunning(entry.key)) return;
    this.#ready.push(entry);
    this.#offer();
  }

  #promote(): void {
    const now = this.#clock.now();
    for (let next = this.#delayed.due(now); next !== undefined; next = this.#delayed.due(now)) {
      const { at } = next;
      this.#undelay(next);
      this.#makeReady(next, at);
    }
  }

  /** Called when an item can be taken: the first waiter of `get` receives it, otherwise `onReady` is called. */
  #offer(): void {
    const waiter = this.#waiters.next();
    if (waiter !== undefined) waiter(this.take());
    else this.#onReady?.();
  }

  #isOver(): boolean {
    return this.#closed && this.#entries.queued === 0;
  }

  #finishDrain(): void {
    if (!this.#isOver()) return;
    this.#waiters.releaseAll();
    if (this.#entries.running === 0) this.#drained?.resolve();
  }

  #reading(): QueueReading {
    let unfinished = 0;
    let longest = 0;
    const now = this.#clock.now();
    for (const { at } of this.#entries.values()) {
      const seconds = (now - at) / 1000;
      unfinished += seconds;
      longest = Math.max(longest, seconds);
    }
    return {
      depth: this.depths,
      unfinishedSeconds: unfinished,
      longestRunningSeconds: longest,
      parked: this.#parked.size,
      failing: this.#failing.size,
      longestFailingSeconds: (now - (this.#failing.values().next().value ?? now)) / 1000,
    };
  }
}

class Waiters {
  readonly #waiting: ((item: QueueItem | undefined) => void)[] = [];

  /** Removes and returns the longest waiting caller. */
  next(): ((item: QueueItem | undefined) => void) | undefined {
    return this.#waiting.length === 0 ? undefined : this.#waiting.shift();
  }

  /** Waits for an item. @returns `undefined` when the queue has ended. @throws the signal's reason. */
  async wait(signal: AbortSignal | undefined): Promise<QueueItem | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<QueueItem | undefined>();
    this.#waiting.push(resolve);
    const onAbort = (): void => {
      const place = this.#waiting.indexOf(resolve);
      if (place >= 0) this.#waiting.splice(place, 1); // otherwise it has just been served
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Ends all waits: no more items will come. */
  releaseAll(): void {
    for (const waiter of this.#waiting.splice(0)) waiter(undefined);
  }
}
