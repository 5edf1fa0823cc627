/** The metrics of work queues, with client-go's names. */
import type { QueueReading } from "./readings.ts";
import { HistogramFamily, NumberFamily, ReadFamily, type HistogramSeries, type Labels, type Series } from "./series.ts";

/** What one work queue reports; values that can be asked for are read only together with the metrics. */
export interface QueueMetrics extends Disposable {
  /** Counts an added key, even if it was queued already. */
  added(): void;
  /** Records that a key was handed to a worker, so many seconds after it became ready. */
  taken(waitedSeconds: number): void;
  done(workedSeconds: number): void;
  /** Counts a key that was added with a delay. */
  retried(): void;
  /** Sets the function that returns depth, running and parked keys when metrics are read. */
  readFrom(read: () => QueueReading): void;
}

/** In seconds: 10 ns × 10ⁿ, as in client-go. */
const QUEUE_BOUNDS: readonly number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

/** The maximum number of values of the label `priority` of one queue, as in controller-runtime. */
const MAX_PRIORITIES = 25;
const OTHER_PRIORITIES = "exceeded_cardinality_limit";

export class QueueFamilies {
  readonly #queues = new Set<QueueSeries>();

  readonly adds: NumberFamily = new NumberFamily(
    { name: "workqueue_adds_total", help: "Total number of adds handled by workqueue" },
    "counter",
  );
  readonly retries: NumberFamily = new NumberFamily(
    { name: "workqueue_retries_total", help: "Total number of retries handled by workqueue" },
    "counter",
  );
  readonly waited: HistogramFamily = new HistogramFamily({
    name: "workqueue_queue_duration_seconds",
    help: "How long in seconds an item stays in workqueue before being requested",
    bounds: QUEUE_BOUNDS,
  });
  readonly worked: HistogramFamily = new HistogramFamily({
    name: "workqueue_work_duration_seconds",
    help: "How long in seconds processing an item from workqueue takes.",
    bounds: QUEUE_BOUNDS,
  });
  readonly depth: ReadFamily = new ReadFamily(
    { name: "workqueue_depth", help: "Current depth of workqueue by priority" },
    () => [...this.#queues].flatMap((queue) => queue.depths()),
  );
  readonly unfinished: ReadFamily = this.#gauge(
    "workqueue_unfinished_work_seconds",
    "How many seconds of work has been done that is in progress and hasn't been observed by work_duration.",
    (reading) => reading.unfinishedSeconds,
  );
  readonly longest: ReadFamily = this.#gauge(
    "workqueue_longest_running_processor_seconds",
    "How many seconds has the longest running processor for workqueue been running.",
    (reading) => reading.longestRunningSeconds,
  );
  readonly parked: ReadFamily = this.#gauge(
    "binnacle_queue_parked",
    "Number of keys that are not retried until something about them changes",
    (reading) => reading.parked,
  );

  queue(name: string): QueueMetrics {
    const queue = new QueueSeries(this, {
      labels: { name, controller: name },
      onDispose: () => this.#queues.delete(queue),
    });
    this.#queues.add(queue);
    return queue;
  }

  #gauge(name: string, help: string, value: (reading: QueueReading) => number): ReadFamily {
    return new ReadFamily({ name, help }, () =>
      [...this.#queues].map((queue) => ({ labels: queue.labels, value: value(queue.read()) })),
    );
  }
}

const EMPTY: QueueReading = { depth: [], unfinishedSeconds: 0, longestRunningSeconds: 0, parked: 0 };

class QueueSeries implements QueueMetrics {
  readonly labels: Labels;
  read: () => QueueReading = () => EMPTY;
  readonly #families: QueueFamilies;
  readonly #onDispose: () => void;
  readonly #adds: Series;
  readonly #retries: Series;
  readonly #waited: HistogramSeries;
  readonly #worked: HistogramSeries;
  /** Known priorities stay at 0, because a gauge that vanishes looks like one that does not change. */
  readonly #priorities = new Set<number>();
  #others = false;

  constructor(families: QueueFamilies, options: { labels: Labels; onDispose: () => void }) {
    this.labels = options.labels;
    this.#families = families;
    this.#onDispose = options.onDispose;
    this.#adds = families.adds.series(this.labels);
    this.#retries = families.retries.series(this.labels);
    this.#waited = families.waited.series(this.labels);
    this.#worked = families.worked.series(this.labels);
  }

  added(): void {
    this.#adds.value++;
  }

  taken(waitedSeconds: number): void {
    this.#waited.observe(waitedSeconds);
  }

  done(workedSeconds: number): void {
    this.#worked.observe(workedSeconds);
  }

  retried(): void {
    this.#retries.value++;
  }

  readFrom(read: () => QueueReading): void {
    this.read = read;
  }

  depths(): { labels: Labels; value: number }[] {
    const now = new Map<number, number>();
    let others = 0;
    for (const [priority, keys] of this.read().depth) {
      if (this.#priorities.size < MAX_PRIORITIES) this.#priorities.add(priority);
      if (this.#priorities.has(priority)) now.set(priority, (now.get(priority) ?? 0) + keys);
      else others += keys;
    }
    this.#others ||= others > 0;
    // The priority of most keys is shown from the beginning, but counts only once it was used.
    const depths = [...new Set([0, ...this.#priorities])].map((priority) =>
      this.#depth(String(priority), now.get(priority) ?? 0),
    );
    if (this.#others) depths.push(this.#depth(OTHER_PRIORITIES, others));
    return depths;
  }

  #depth(priority: string, value: number): { labels: Labels; value: number } {
    return { labels: { ...this.labels, priority }, value };
  }

  [Symbol.dispose](): void {
    this.#onDispose();
    this.#families.adds.release(this.#adds);
    this.#families.retries.release(this.#retries);
    this.#families.waited.release(this.#waited);
    this.#families.worked.release(this.#worked);
  }
}
