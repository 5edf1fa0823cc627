/** The metrics of work queues, with client-go's names. */
import { counter, HistogramFamily, type Labels, type NumberFamily, ReadFamily } from "./series.ts";

/** The state of a queue when the metrics are read. */
export interface QueueReading {
  /** Ready keys by priority; priorities without keys may be left out. */
  readonly depth: Iterable<readonly [priority: number, keys: number]>;
  /** Seconds that the keys being processed have taken so far, summed. */
  readonly unfinishedSeconds: number;
  readonly longestRunningSeconds: number;
  /** The number of keys that are not retried until something about them changes. */
  readonly parked: number;
  /** The number of keys whose last run failed and that are retried. */
  readonly failing: number;
  /** For how long the key has been failing that has failed for longest. */
  readonly longestFailingSeconds: number;
}

/** The bounds of the histograms in seconds: 10 ns × 10ⁿ, as in client-go. */
const QUEUE_BOUNDS: readonly number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

/** The maximum number of values of the label `priority` of one queue, as in controller-runtime. */
const MAX_PRIORITIES = 25;
const OTHER_PRIORITIES = "exceeded_cardinality_limit";

/** The labels of a queue's series; client-go's `name` and controller-runtime's `controller` are the same. */
export interface QueueLabels {
  readonly name: string;
}

export class QueueFamilies {
  /** The queues that exist. */
  readonly #queues = new Set<QueueMetrics>();

  readonly adds: NumberFamily = counter("workqueue_adds_total", "Total number of adds handled by workqueue");
  readonly retries: NumberFamily = counter("workqueue_retries_total", "Total number of retries handled by workqueue");
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
  readonly depth: ReadFamily = new ReadFamily({
    name: "workqueue_depth",
    help: "Current depth of workqueue by priority",
    read: () => [...this.#queues].flatMap((queue) => queue.depths()),
  });
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
  readonly failing: ReadFamily = this.#gauge(
    "binnacle_queue_failing",
    "Number of keys whose last run failed and that are retried",
    (reading) => reading.failing,
  );
  readonly longestFailing: ReadFamily = this.#gauge(
    "binnacle_queue_longest_failing_seconds",
    "How many seconds the key has been failing that has failed for longest",
    (reading) => reading.longestFailingSeconds,
  );

  queue(labels: QueueLabels): QueueMetrics {
    const user = new DisposableStack();
    const queue = new QueueMetrics(this, { ...labels, controller: labels.name }, user);
    this.#queues.add(queue);
    user.defer(() => this.#queues.delete(queue));
    return queue;
  }

  #gauge(name: string, help: string, value: (reading: QueueReading) => number): ReadFamily {
    const read = () => [...this.#queues].map((queue) => ({ labels: queue.labels, value: value(queue.read()) }));
    return new ReadFamily({ name, help, read });
  }
}

const EMPTY: QueueReading = {
  depth: [],
  unfinishedSeconds: 0,
  longestRunningSeconds: 0,
  parked: 0,
  failing: 0,
  longestFailingSeconds: 0,
};

/** The metrics of one work queue. The series start at 0 and exist until this is disposed of. */
export class QueueMetrics implements Disposable {
  readonly labels: Labels;
  read: () => QueueReading = () => EMPTY;
  readonly #user: DisposableStack;
  readonly #adds;
  readonly #retries;
  readonly #waited;
  readonly #worked;
  /** Priorities that were used stay at 0, because a gauge that vanishes looks like one that does not change. */
  readonly #priorities = new Set<number>();
  #others = false;

  constructor(families: QueueFamilies, labels: Labels, user: DisposableStack) {
    this.labels = labels;
    this.#user = user;
    this.#adds = families.adds.series(labels, user);
    this.#retries = families.retries.series(labels, user);
    this.#waited = families.waited.series(labels, user);
    this.#worked = families.worked.series(labels, user);
  }

  /** Counts an added key, even if it was queued already. */
  added(): void {
    this.#adds.value++;
  }

  /** Records that a key was handed to a worker, so many seconds after it became ready. */
  taken(waitedSeconds: number): void {
    this.#waited.observe(waitedSeconds);
  }

  done(workedSeconds: number): void {
    this.#worked.observe(workedSeconds);
  }

  /** Counts a key that was added with a delay. */
  retried(): void {
    this.#retries.value++;
  }

  /** Sets the function that returns depth, running, parked and failing keys when metrics are read. */
  readFrom(read: () => QueueReading): void {
    this.read = read;
  }

  /** Returns the number of ready keys of each priority that the queue has had. */
  depths(): { labels: Labels; value: number }[] {
    const now = new Map<number, number>();
    let others = 0;
    for (const [priority, keys] of this.read().depth) {
      if (this.#priorities.size < MAX_PRIORITIES) this.#priorities.add(priority);
      if (this.#priorities.has(priority)) now.set(priority, (now.get(priority) ?? 0) + keys);
      else others += keys;
    }
    this.#others ||= others > 0;
    // The usual priorities are shown from the beginning; they count towards the maximum only once they were used.
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
    this.#user.dispose();
  }
}
