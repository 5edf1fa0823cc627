/** The work queue: keys, each at most once, in the order in which they are to be worked on. */
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import type { QueueReading } from "../observe/readings.ts";
import { evenly, type Clock } from "../platform/clock.ts";
import { withCause, type Cause } from "./cause.ts";
import { DelayedItems } from "./delayed-items.ts";
import { Depths } from "./depths.ts";
import { Entries } from "./entries.ts";
import { Pace } from "./pace.ts";
import type { Entry, Parked, QueueItem } from "./queue-item.ts";
import { exponential, type RateLimiter } from "./rate-limiter.ts";
import { ReadyItems } from "./ready-items.ts";
import { Takers } from "./takers.ts";

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

const NOW: AddOptions = Object.freeze({});

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
  readonly #entries = new Entries();
  readonly #ready = new ReadyItems<Entry>();
  readonly #delayed: DelayedItems<Entry>;
  readonly #parked = new Map<string, Parked>();
  readonly #depths = new Depths();
  readonly #pace: Pace | undefined;
  readonly #takers = new Takers();
  #order = 0;
  #closed = false;
  #drained: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(options: WorkQueueOptions) {
    this.name = options.name;
    this.#clock = evenly(options.clock);
    this.#delayed = new DelayedItems(this.#clock, () => this.#promote());
    this.#limiter = options.limiter ?? exponential();
    this.#metrics = options.metrics;
    this.#onReady = options.onReady;
    const { minInterval = 0, debounce = 0 } = options;
    this.#pace = minInterval > 0 || debounce > 0 ? new Pace({ minInterval, debounce }) : undefined;
    this.#metrics?.readFrom(() => this.#reading());
  }

  /** Keys that are ready, with those that wait only for their own run to end. */
  get depth(): number {
    return this.#depths.total;
  }

  /** The depth by priority; a priority once seen stays, at 0, as long as there are few. */
  get depths(): ReadonlyMap<number, number> {
    return this.#depths.byPriority();
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys with a worker. */
  get processing(): number {
    return this.#entries.running;
  }

  /** Keys that are not retried by themselves. */
  get parked(): ReadonlyMap<string, Parked> {
    return this.#parked;
  }

  /** Queues a key. Without effect after `drain` or `stop`. */
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
    if (options.cause !== undefined) entry.causes = withCause(entry.causes, options.cause);
    if (this.#pace !== undefined) {
      if (delay <= 0 && this.#pace.debounce > 0 && (isNew || entry.isDelayed)) {
        this.#raise(entry, priority);
        this.#calm(entry, this.#pace, isNew);
        return;
      }
      delay = Math.max(delay, this.#pace.wait(key, this.#clock.now()));
    }
    if (delay > 0) {
      this.#metrics?.retried();
      this.#delay(entry, { until: this.#clock.now() + delay, priority, isNew, retry: rateLimited });
    } else if (isNew || entry.isDelayed) {
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
    this.#entries.run(entry);
    this.#depths.count(entry.priority, -1);
    this.#metrics?.taken((now - entry.at) / 1000);
    entry.order = this.#limiter.failures(entry.key) + 1;
    entry.at = now;
    this.#pace?.begins(entry.key, now);
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
    return await this.#takers.wait(signal);
  }

  /** The worker is through with a key that it took. */
  done(key: string): void {
    const entry = this.#entries.done(key);
    if (entry === undefined) return;
    this.#metrics?.done((this.#clock.now() - entry.at) / 1000);
    const { again } = entry;
    if (again !== undefined && !again.isDelayed) {
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
   *
   * @returns whether it is parked now.
   */
  park(key: string, reason: string): boolean {
    if (this.#entries.get(key) !== undefined) {
      this.#limiter.forget(key);
      return false;
    }
    if (this.#closed) return false;
    this.#parked.set(key, { reason, at: this.#clock.now() });
    return true;
  }

  /** Makes every delayed retry ready: what failed for a reason that is gone. Other delays stay. */
  expedite(): void {
    const now = this.#clock.now();
    const retries = this.#delayed.values().filter(({ state }) => state === "retry");
    retries.sort((a, b) => a.at - b.at);
    for (const entry of retries) {
      this.#undelay(entry);
      this.#makeReady(entry, now);
    }
  }

  /** Takes no more keys, drops delayed ones, and resolves when the ready ones have been worked on. */
  drain(): Promise<void> {
    this.#closed = true;
    for (const entry of this.#delayed.values()) this.#entries.drop(entry);
    this.#delayed.clear();
    this.#drained ??= Promise.withResolvers<void>();
    this.#settle();
    return this.#drained.promise;
  }

  /** Drops everything that is queued; a `drain` under way resolves. */
  stop(): void {
    this.#closed = true;
    this.#delayed.clear();
    this.#ready.clear();
    this.#entries.dropQueued();
    this.#depths.clear();
    this.#takers.release();
    this.#drained?.resolve();
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
    this.#pace?.calmed(entry.key);
    entry.state = retry ? "retry" : "delayed";
    entry.at = until;
    this.#delayed.add(entry);
  }

  /** Delays a key until it has been left alone for a while; whatever else delays it counts too. */
  #calm(entry: Entry, pace: Pace, isNew: boolean): void {
    const isRestless = pace.isRestless(entry.key);
    const at = pace.calm(entry.key, this.#clock.now());
    if (isNew) entry.order = this.#order++;
    else if (!isRestless && at >= entry.at) {
      pace.calmed(entry.key); // a delay of another kind that is over sooner stays; one of this kind moves on
      return;
    } else this.#delayed.remove(entry);
    entry.state = "delayed";
    entry.at = at;
    this.#delayed.add(entry);
  }

  #undelay(entry: Entry): void {
    this.#pace?.calmed(entry.key);
    if (!entry.isDelayed) return;
    this.#delayed.remove(entry);
    entry.state = "ready";
  }

  #raise(entry: Entry, priority: number | undefined): void {
    if (priority !== undefined && priority > entry.priority) entry.priority = priority;
  }

  /** A ready entry goes to the end of a higher priority. */
  #move(entry: Entry, priority: number): void {
    const free = entry.place >= 0;
    if (free) this.#ready.remove(entry);
    this.#depths.count(entry.priority, -1);
    entry.priority = priority;
    entry.order = this.#order++;
    this.#depths.count(priority, 1);
    if (free) this.#ready.push(entry);
  }

  #makeReady(entry: Entry, now: number): void {
    entry.at = now;
    entry.order = this.#order++;
    this.#depths.count(entry.priority, 1);
    if (this.#entries.running > 0 && this.#entries.isRunning(entry.key)) return;
    this.#ready.push(entry);
    this.#tell();
  }

  #promote(): void {
    const now = this.#clock.now();
    for (let next = this.#delayed.due(now); next !== undefined; next = this.#delayed.due(now)) {
      const { at } = next;
      this.#undelay(next);
      this.#makeReady(next, at);
    }
  }

  /** Something can be taken: whoever waits in `get` comes first. */
  #tell(): void {
    const taker = this.#takers.next();
    if (taker !== undefined) taker(this.take());
    else this.#onReady?.();
  }

  #isOver(): boolean {
    return this.#closed && this.#entries.queued === 0;
  }

  #settle(): void {
    if (!this.#isOver()) return;
    this.#takers.release();
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
    };
  }
}
