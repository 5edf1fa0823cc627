/** The work queue: keys, each at most once, in the order in which they are to be worked on. */
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import type { QueueReading } from "../observe/readings.ts";
import { systemClock, type Clock } from "../platform/clock.ts";
import { withCause, type Cause } from "./cause.ts";
import { Heap } from "./heap.ts";
import { Pace } from "./pace.ts";
import { Entry, type Parked, type QueueItem } from "./queue-item.ts";
import { exponential, type RateLimiter } from "./rate-limiter.ts";
import { ReadyItems } from "./ready-items.ts";

export interface AddOptions {
  /** Milliseconds; of several adds the earliest counts. @default 0 */
  readonly after?: number | undefined;
  /** Higher is sooner; of several adds the highest counts. @default 0 */
  readonly priority?: number | undefined;
  /** Counts a failure, and waits as long as the limiter says. @default false */
  readonly rateLimited?: boolean | undefined;
  readonly cause?: Cause | undefined;
}

export interface WorkQueueOptions {
  readonly name: string;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** @default exponential(5, 1_000_000) */
  readonly limiter?: RateLimiter | undefined;
  readonly metrics?: Pick<QueueMetrics, "added" | "taken" | "done" | "retried" | "readFrom"> | undefined;
  /** Milliseconds from the beginning of one run of a key to that of the next, whatever asks for it. @default 0 */
  readonly minInterval?: number | undefined;
  /**
   * Milliseconds for which a key must be left alone before it is ready, so that a burst of changes is one run; at most
   * ten times as long in all. Retries and keys with a delay of their own do not wait for this. @default 0
   */
  readonly debounce?: number | undefined;
  /** An item became ready. Called synchronously by `add`, `done` and `expedite`, or from a timer. */
  readonly onReady?: (() => void) | undefined;
}

/**
 * A queue of keys for workers.
 *
 * **Guarantees.** A key is queued at most once, and never with two workers: added while it is worked on, it comes back
 * once after `done`. Low priorities are served too. Nothing is kept of a key that was done and forgotten.
 */
export class WorkQueue {
  readonly name: string;
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  readonly #metrics: WorkQueueOptions["metrics"];
  readonly #onReady: (() => void) | undefined;
  readonly #queued = new Map<string, Entry>();
  readonly #ready = new ReadyItems<Entry>();
  readonly #delayed = new Heap<Entry>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  readonly #processing = new Map<string, Entry>();
  readonly #parked = new Map<string, Parked>();
  readonly #depths = new Map<number, number>();
  readonly #pace: Pace | undefined;
  readonly #waiters: ((item: QueueItem | undefined) => void)[] = [];
  #depth = 0;
  #order = 0;
  #timer: { readonly at: number; readonly timer: Disposable } | undefined;
  #closed = false;
  #drained: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(options: WorkQueueOptions) {
    this.name = options.name;
    this.#clock = options.clock ?? systemClock;
    this.#limiter = options.limiter ?? exponential();
    this.#metrics = options.metrics;
    this.#onReady = options.onReady;
    const { minInterval = 0, debounce = 0 } = options;
    this.#pace = minInterval > 0 || debounce > 0 ? new Pace({ minInterval, debounce }) : undefined;
    this.#metrics?.readFrom(() => this.#reading());
  }

  /** Keys that are ready, with those that wait only for their own run to end. */
  get depth(): number {
    return this.#depth;
  }

  /** The depth by priority; a priority once seen stays, at 0. */
  get depths(): ReadonlyMap<number, number> {
    return this.#depths;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys with a worker. */
  get processing(): number {
    return this.#processing.size;
  }

  /** Keys that are not retried by themselves. */
  get parked(): ReadonlyMap<string, Parked> {
    return this.#parked;
  }

  /** Queues a key. Without effect after `drain` or `stop`. */
  add(key: string, options: AddOptions = {}): void {
    if (this.#closed) return;
    if (this.#parked.size > 0 && this.#parked.delete(key)) this.#limiter.forget(key);
    const { priority, rateLimited = false } = options;
    let delay = options.after ?? 0;
    if (rateLimited) {
      const backOff = this.#limiter.delay(key);
      delay = options.after === undefined ? backOff : Math.min(delay, backOff);
    }
    let entry = this.#queued.get(key);
    const isNew = entry === undefined;
    if (entry === undefined) {
      entry = new Entry(key, priority ?? 0);
      this.#queued.set(key, entry);
      this.#metrics?.added();
    }
    entry.causes = withCause(entry.causes, options.cause);
    if (this.#pace !== undefined) {
      if (delay <= 0 && this.#pace.debounce > 0 && (isNew || entry.delayed)) {
        this.#raise(entry, priority);
        this.#calm(entry, this.#pace, isNew);
        return;
      }
      delay = Math.max(delay, this.#pace.wait(key, this.#clock.now()));
    }
    if (delay > 0) {
      this.#metrics?.retried();
      this.#delay(entry, { until: this.#clock.now() + delay, priority, isNew, retry: rateLimited });
    } else if (isNew || entry.delayed) {
      this.#raise(entry, priority);
      this.#undelay(entry);
      this.#makeReady(entry, this.#clock.now());
    } else if (priority !== undefined && priority > entry.priority) this.#move(entry, priority);
  }

  /** The next ready item, which is then being worked on until `done`. */
  take(): QueueItem | undefined {
    if (this.#delayed.size > 0) this.#promote();
    const entry = this.#ready.take();
    if (entry === undefined) return undefined;
    const now = this.#clock.now();
    this.#queued.delete(entry.key);
    this.#count(entry.priority, -1);
    this.#metrics?.taken((now - entry.at) / 1000);
    entry.attempt = this.#limiter.failures(entry.key) + 1;
    entry.startedAt = now;
    this.#pace?.begins(entry.key, now);
    this.#processing.set(entry.key, entry);
    return entry;
  }

  /**
   * Waits for the next item.
   *
   * @returns `undefined` when the queue is stopped, or drained.
   * @throws the signal's reason.
   */
  async get(signal?: AbortSignal): Promise<QueueItem | undefined> {
    signal?.throwIfAborted();
    const item = this.take();
    if (item !== undefined || this.#isOver()) return item;
    const { promise, resolve, reject } = Promise.withResolvers<QueueItem | undefined>();
    this.#waiters.push(resolve);
    const onAbort = (): void => {
      this.#waiters.splice(this.#waiters.indexOf(resolve), 1);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** The worker is through with a key that it took. */
  done(key: string): void {
    const entry = this.#processing.get(key);
    if (entry === undefined) return;
    this.#processing.delete(key);
    this.#metrics?.done((this.#clock.now() - entry.startedAt) / 1000);
    const again = this.#queued.get(key);
    if (again !== undefined && !again.delayed) {
      this.#ready.push(again);
      this.#tell();
    }
    this.#settle();
  }

  /** Ends the back-off of a key, and takes it out of the parked ones. */
  forget(key: string): void {
    this.#limiter.forget(key);
    this.#parked.delete(key);
  }

  /** How often in a row the key has failed. */
  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  /**
   * Gives a key up until it is added again, which gives it a fresh back-off. When it has been added since it was taken,
   * that has happened already, and it is not parked.
   */
  park(key: string, reason: string): void {
    if (this.#queued.has(key)) this.#limiter.forget(key);
    else if (!this.#closed) this.#parked.set(key, { reason, at: this.#clock.now() });
  }

  /** Makes every delayed retry ready: what failed for a reason that is gone. Other delays stay. */
  expedite(): void {
    const now = this.#clock.now();
    const retries = this.#delayed.values().filter((entry) => entry.retry);
    retries.sort((a, b) => a.at - b.at);
    for (const entry of retries) {
      this.#undelay(entry);
      this.#makeReady(entry, now);
    }
  }

  /** Takes no more keys, drops delayed ones, and resolves when the ready ones have been worked on. */
  drain(): Promise<void> {
    this.#closed = true;
    for (const entry of this.#delayed.values()) this.#queued.delete(entry.key);
    this.#delayed.clear();
    this.#disarm();
    this.#drained ??= Promise.withResolvers<void>();
    this.#settle();
    return this.#drained.promise;
  }

  /** Drops everything that is queued; a `drain` under way resolves. */
  stop(): void {
    this.#closed = true;
    this.#delayed.clear();
    this.#ready.clear();
    this.#queued.clear();
    for (const priority of this.#depths.keys()) this.#depths.set(priority, 0);
    this.#depth = 0;
    this.#disarm();
    this.#release();
    this.#drained?.resolve();
  }

  #delay(entry: Entry, when: { until: number; priority: number | undefined; isNew: boolean; retry: boolean }): void {
    const { until, priority, isNew, retry } = when;
    if (!isNew && !entry.delayed) {
      if (priority !== undefined && priority > entry.priority) this.#move(entry, priority);
      return;
    }
    this.#raise(entry, priority);
    if (!isNew && until >= entry.at) return;
    if (isNew) entry.order = this.#order++;
    else this.#delayed.remove(entry);
    entry.delayed = true;
    entry.at = until;
    entry.retry = retry;
    this.#delayed.push(entry);
    this.#arm();
  }

  /** Delays a key until it has been left alone for a while; whatever else delays it counts too. */
  #calm(entry: Entry, pace: Pace, isNew: boolean): void {
    const isRestless = entry.restlessSince > 0;
    const now = this.#clock.now();
    if (!isRestless) entry.restlessSince = now;
    const at = pace.calm(entry, now);
    if (isNew) entry.order = this.#order++;
    // A delay of another kind that is over sooner stays; one of this kind moves on.
    else if (!isRestless && at >= entry.at) return;
    else this.#delayed.remove(entry);
    entry.delayed = true;
    entry.retry = false;
    entry.at = at;
    this.#delayed.push(entry);
    this.#arm();
  }

  #undelay(entry: Entry): void {
    entry.restlessSince = 0;
    if (!entry.delayed) return;
    this.#delayed.remove(entry);
    entry.delayed = false;
    entry.retry = false;
  }

  #raise(entry: Entry, priority: number | undefined): void {
    if (priority !== undefined && priority > entry.priority) entry.priority = priority;
  }

  /** A ready entry goes to the end of a higher priority. */
  #move(entry: Entry, priority: number): void {
    const free = entry.place >= 0;
    if (free) this.#ready.remove(entry);
    this.#count(entry.priority, -1);
    entry.priority = priority;
    entry.order = this.#order++;
    this.#count(priority, 1);
    if (free) this.#ready.push(entry);
  }

  #makeReady(entry: Entry, now: number): void {
    entry.at = now;
    entry.order = this.#order++;
    this.#count(entry.priority, 1);
    if (this.#processing.has(entry.key)) return;
    this.#ready.push(entry);
    this.#tell();
  }

  #promote(): void {
    const now = this.#clock.now();
    for (let next = this.#delayed.peek(); next !== undefined && next.at <= now; next = this.#delayed.peek()) {
      const { at } = next;
      this.#undelay(next);
      this.#makeReady(next, at);
    }
  }

  #arm(): void {
    const next = this.#delayed.peek();
    if (next === undefined || (this.#timer !== undefined && this.#timer.at <= next.at)) return;
    this.#disarm();
    const { at } = next;
    const timer = this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#promote();
        this.#arm();
      },
      Math.max(0, at - this.#clock.now()),
    );
    this.#timer = { at, timer };
  }

  #disarm(): void {
    this.#timer?.timer[Symbol.dispose]();
    this.#timer = undefined;
  }

  #count(priority: number, change: number): void {
    this.#depth += change;
    this.#depths.set(priority, (this.#depths.get(priority) ?? 0) + change);
  }

  /** Something can be taken: whoever waits in `get` comes first. */
  #tell(): void {
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) waiter(this.take());
    else this.#onReady?.();
  }

  #isOver(): boolean {
    return this.#closed && this.#queued.size === 0;
  }

  #settle(): void {
    if (!this.#isOver()) return;
    this.#release();
    if (this.#processing.size === 0) this.#drained?.resolve();
  }

  #release(): void {
    for (const waiter of this.#waiters.splice(0)) waiter(undefined);
  }

  #reading(): QueueReading {
    let unfinished = 0;
    let longest = 0;
    const now = this.#clock.now();
    for (const { startedAt } of this.#processing.values()) {
      const seconds = (now - startedAt) / 1000;
      unfinished += seconds;
      longest = Math.max(longest, seconds);
    }
    return {
      depth: this.#depths,
      unfinishedSeconds: unfinished,
      longestRunningSeconds: longest,
      parked: this.#parked.size,
    };
  }
}
