/** The metrics of reconciling, with controller-runtime's names. */
import { HistogramFamily, NumberFamily, type Family, type Labels } from "./series.ts";

/** What the workers of one controller report. */
export interface ControllerMetrics extends Disposable {
  /** Counts a success that took this many seconds; so do the methods below. */
  success(seconds: number): void;
  error(seconds: number): void;
  requeueAfter(seconds: number): void;
  /** Counts an error that is not retried, in addition to `error`. */
  terminal(): void;
  /** Counts an exception that the reconciler did not throw on purpose, in addition to `error`. */
  panic(): void;
  /** Counts a suspension of the controller, whose runs fail. */
  suspended(): void;
  /** Counts a run that passed its deadline. */
  timeout(): void;
  active(delta: 1 | -1): void;
  /** Sets the number of runs whose signal fired and that have not settled. */
  stuck(count: number): void;
}

/** In seconds; controller-runtime has the same bounds. */
const RECONCILE_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

export class ControllerFamilies {
  readonly total: NumberFamily = new NumberFamily(
    { name: "controller_runtime_reconcile_total", help: "Total number of reconciliations per controller" },
    "counter",
  );
  readonly errors: NumberFamily = new NumberFamily(
    { name: "controller_runtime_reconcile_errors_total", help: "Total number of reconciliation errors per controller" },
    "counter",
  );
  readonly terminal: NumberFamily = new NumberFamily(
    {
      name: "controller_runtime_terminal_reconcile_errors_total",
      help: "Total number of terminal reconciliation errors per controller",
    },
    "counter",
  );
  readonly panics: NumberFamily = new NumberFamily(
    { name: "controller_runtime_reconcile_panics_total", help: "Total number of reconciliation panics per controller" },
    "counter",
  );
  readonly timeouts: NumberFamily = new NumberFamily(
    {
      name: "controller_runtime_reconcile_timeouts_total",
      help: "Total number of reconciliation timeouts per controller",
    },
    "counter",
  );
  readonly suspensions: NumberFamily = new NumberFamily(
    {
      name: "binnacle_controller_suspensions_total",
      help: "Number of times that a controller was suspended because its runs failed, per controller",
    },
    "counter",
  );
  readonly seconds: HistogramFamily = new HistogramFamily({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller",
    bounds: RECONCILE_BOUNDS,
  });
  readonly concurrency: NumberFamily = new NumberFamily(
    {
      name: "controller_runtime_max_concurrent_reconciles",
      help: "Maximum number of concurrent reconciles per controller",
    },
    "gauge",
  );
  readonly active: NumberFamily = new NumberFamily(
    { name: "controller_runtime_active_workers", help: "Number of currently used workers per controller" },
    "gauge",
  );
  readonly stuck: NumberFamily = new NumberFamily(
    {
      name: "binnacle_controller_stuck_runs",
      help: "Number of runs that were told to stop and have not settled, per controller",
    },
    "gauge",
  );

  controller(name: string, concurrency: number): ControllerMetrics {
    return new ControllerSeries(this, { name, concurrency });
  }
}

class ControllerSeries implements ControllerMetrics {
  readonly #release: (() => void)[] = [];
  readonly #success;
  readonly #requeueAfter;
  readonly #error;
  readonly #errors;
  readonly #terminal;
  readonly #panics;
  readonly #timeouts;
  readonly #suspensions;
  readonly #seconds;
  readonly #active;
  readonly #stuck;
  /** What this user added to shared gauges, which is subtracted when it leaves before its runs end. */
  #activeHere = 0;
  #stuckHere = 0;

  constructor(families: ControllerFamilies, options: { name: string; concurrency: number }) {
    const controller = options.name;
    const take = <S extends { readonly labels: Labels }>(family: Family<S>, labels: Labels): S => {
      const series = family.series(labels);
      this.#release.push(() => family.release(series));
      return series;
    };
    this.#error = take(families.total, { controller, result: "error" });
    this.#requeueAfter = take(families.total, { controller, result: "requeue_after" });
    take(families.total, { controller, result: "requeue" });
    this.#success = take(families.total, { controller, result: "success" });
    this.#errors = take(families.errors, { controller });
    this.#terminal = take(families.terminal, { controller });
    this.#panics = take(families.panics, { controller });
    this.#timeouts = take(families.timeouts, { controller });
    this.#suspensions = take(families.suspensions, { controller });
    this.#seconds = take(families.seconds, { controller });
    this.#active = take(families.active, { controller });
    this.#stuck = take(families.stuck, { controller });
    take(families.concurrency, { controller }).value = options.concurrency;
  }

  success(seconds: number): void {
    this.#success.value++;
    this.#seconds.observe(seconds);
  }

  error(seconds: number): void {
    this.#error.value++;
    this.#errors.value++;
    this.#seconds.observe(seconds);
  }

  requeueAfter(seconds: number): void {
    this.#requeueAfter.value++;
    this.#seconds.observe(seconds);
  }

  terminal(): void {
    this.#terminal.value++;
  }

  panic(): void {
    this.#panics.value++;
  }

  suspended(): void {
    this.#suspensions.value++;
  }

  timeout(): void {
    this.#timeouts.value++;
  }

  active(delta: 1 | -1): void {
    this.#active.value += delta;
    this.#activeHere += delta;
  }

  stuck(count: number): void {
    this.#stuck.value += count - this.#stuckHere;
    this.#stuckHere = count;
  }

  [Symbol.dispose](): void {
    this.#active.value -= this.#activeHere;
    this.#activeHere = 0;
    this.stuck(0);
    for (const release of this.#release.splice(0)) release();
  }
}
