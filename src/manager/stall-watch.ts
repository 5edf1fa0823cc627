/** Watches the event loop: measures how late its turns are, and lets a thread report when it is blocked. */
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import { counter, HistogramFamily } from "../observe/series.ts";
import { type Clock, monotonic } from "../platform/clock.ts";
import { loopMarks, PLACE } from "../platform/loop-marks.ts";
import type { StallOrder, StallReport } from "./stall-order.ts";

export interface StallWatchOptions {
  /** The file of the thread, `stall-thread.ts`. @default none: only the lag is measured */
  readonly thread: string | undefined;
  /** Milliseconds after which it is reported that the event loop is blocked, and by whom; 0 for never. */
  readonly warnAfter: number;
  /** Milliseconds after which the process ends; 0 for never. */
  readonly endAfter: number;
  readonly log: Log;
  /** The format of the thread's own lines. */
  readonly format: "json" | "pretty";
  /** @default the machine's clock */
  readonly clock?: Clock | undefined;
}

const MOST_BEAT_MS = 500;
/**
 * The number of beats in the time after which a block is reported. The loop may be blocked at any moment between two
 * beats, and the thread counts from the earlier one: so a block of that length is always reported, and one that is a
 * fifth shorter never.
 */
const BEATS = 5;
/** The bounds of the histogram in seconds. */
const LAG_BOUNDS: readonly number[] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];

export class StallWatch implements Disposable {
  readonly #options: StallWatchOptions;
  readonly #clock: Clock;
  readonly #beatEvery: number;
  readonly #lag = new HistogramFamily({
    name: "binnacle_event_loop_lag_seconds",
    help: "How late the event loop came round, measured five times a second by default",
    bounds: LAG_BOUNDS,
  });
  readonly #stalls = counter(
    "binnacle_event_loop_stalls_total",
    "Number of times that the event loop was blocked for too long, by the module that probably did it",
  );
  readonly #observed = this.#lag.series({});
  #worker: Worker | undefined;
  #due: number;
  #timer: Disposable;

  /** Begins at once, so that a module that blocks while it loads is noticed. */
  constructor(options: StallWatchOptions) {
    this.#options = options;
    this.#clock = monotonic(options.clock);
    const { thread, warnAfter, endAfter } = options;
    this.#beatEvery = Math.min(MOST_BEAT_MS, warnAfter / BEATS || MOST_BEAT_MS);
    if (thread !== undefined && (warnAfter > 0 || endAfter > 0)) this.#startThread(thread);
    this.#due = this.#clock.now() + this.#beatEvery;
    this.#timer = this.#clock.setTimeout(() => this.#beat(), this.#beatEvery);
  }

  /** Adds its measurements to the metrics. */
  show(metrics: Metrics): void {
    metrics.addFamily(this.#lag);
    metrics.addFamily(this.#stalls);
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
    const { control } = loopMarks;
    control[PLACE.isWatched] = 0;
    Atomics.store(control, PLACE.stop, 1);
    beat();
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #startThread(thread: string): void {
    const { warnAfter, endAfter, format, log } = this.#options;
    const { control, memory } = loopMarks;
    control[PLACE.stop] = 0;
    control[PLACE.isWatched] = 1;
    // Bun alone knows `smol`, so the types of other runtimes would refuse it in a literal.
    const settings = { type: "module", smol: true } as const;
    const worker = new Worker(thread, settings);
    worker.addEventListener("error", ({ message }) => log.warn("The event loop is not watched", { reason: message }));
    worker.addEventListener("message", ({ data }: MessageEvent<StallReport>) => {
      const module = data.module ?? data.likely?.module ?? "";
      this.#stalls.series({ module }).value++;
    });
    const order: StallOrder = { memory, warnAfter, endAfter, format };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    worker.postMessage(order);
    this.#worker = worker;
  }

  #beat(): void {
    beat();
    const now = this.#clock.now();
    const late = Math.max(0, now - this.#due);
    this.#observed.observe(late / 1_000);
    const { warnAfter, log } = this.#options;
    // A process that was stopped from outside is late, too, but was not blocked: the thread has not reported a block.
    const wasTold = Atomics.exchange(loopMarks.control, PLACE.told, 0) === 1;
    if (wasTold && warnAfter > 0) {
      const seconds = Math.round(late + this.#beatEvery) / 1_000; // since it was last alive, as the thread counts
      log.warn("The event loop was blocked, and comes round again", { seconds });
    }
    this.#due = now + this.#beatEvery;
    this.#timer = this.#clock.setTimeout(() => this.#beat(), this.#beatEvery);
  }
}

function beat(): void {
  const { control } = loopMarks;
  Atomics.add(control, PLACE.beat, 1);
  Atomics.notify(control, PLACE.beat);
}
