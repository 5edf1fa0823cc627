/** The metrics of reconciling, with controller-runtime's names. */
import { counter, type Exemplar, gauge, HistogramFamily, type NumberFamily } from "./series.ts";

/** The bounds of the histogram in seconds; controller-runtime has the same. */
const RECONCILE_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

export class ControllerFamilies {
  readonly total: NumberFamily = counter(
    "controller_runtime_reconcile_total",
    "Total number of reconciliations per controller",
  );
  readonly errors: NumberFamily = counter(
    "controller_runtime_reconcile_errors_total",
    "Total number of reconciliation errors per controller",
  );
  readonly terminal: NumberFamily = counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Total number of terminal reconciliation errors per controller",
  );
  readonly panics: NumberFamily = counter(
    "controller_runtime_reconcile_panics_total",
    "Total number of reconciliation panics per controller",
  );
  readonly timeouts: NumberFamily = counter(
    "controller_runtime_reconcile_timeouts_total",
    "Total number of reconciliation timeouts per controller",
  );
  readonly suspensions: NumberFamily = counter(
    "binnacle_controller_suspensions_total",
    "Number of times that a controller was suspended because its runs failed, per controller",
  );
  readonly seconds: HistogramFamily = new HistogramFamily({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller",
    bounds: RECONCILE_BOUNDS,
  });
  readonly concurrency: NumberFamily = gauge(
    "controller_runtime_max_concurrent_reconciles",
    "Maximum number of concurrent reconciles per controller",
  );
  readonly active: NumberFamily = gauge(
    "controller_runtime_active_workers",
    "Number of currently used workers per controller",
  );
  readonly stuck: NumberFamily = gauge(
    "binnacle_controller_stuck_runs",
    "Number of runs that were told to stop and have not settled, per controller",
  );
}

/** The labels of a controller's series, and the maximum number of its active runs. */
export interface ControllerInMetrics {
  readonly controller: string;
  readonly concurrency: number;
}

/** The metrics of one controller, which its workers write. The series start at 0 and exist until this is disposed of. */
export class ControllerMetrics implements Disposable {
  readonly #user = new DisposableStack();
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
  /** This user's part of a shared gauge; it is subtracted when the user leaves before its runs end. */
  #activeHere = 0;
  #stuckHere = 0;

  constructor(families: ControllerFamilies, { concurrency, ...labels }: ControllerInMetrics) {
    const user = this.#user;
    this.#error = families.total.series({ ...labels, result: "error" }, user);
    this.#requeueAfter = families.total.series({ ...labels, result: "requeue_after" }, user);
    families.total.series({ ...labels, result: "requeue" }, user);
    this.#success = families.total.series({ ...labels, result: "success" }, user);
    this.#errors = families.errors.series(labels, user);
    this.#terminal = families.terminal.series(labels, user);
    this.#panics = families.panics.series(labels, user);
    this.#timeouts = families.timeouts.series(labels, user);
    this.#suspensions = families.suspensions.series(labels, user);
    this.#seconds = families.seconds.series(labels, user);
    this.#active = families.active.series(labels, user);
    this.#stuck = families.stuck.series(labels, user);
    families.concurrency.series(labels, user).value = concurrency;
  }

  /** Counts a success that took this many seconds; {@link error} and {@link requeueAfter} count likewise. */
  success(seconds: number, exemplar?: Exemplar): void {
    this.#success.value++;
    this.#seconds.observe(seconds, exemplar);
  }

  error(seconds: number, exemplar?: Exemplar): void {
    this.#error.value++;
    this.#errors.value++;
    this.#seconds.observe(seconds, exemplar);
  }

  requeueAfter(seconds: number, exemplar?: Exemplar): void {
    this.#requeueAfter.value++;
    this.#seconds.observe(seconds, exemplar);
  }

  /** Counts an error that is not retried, in addition to `error`. */
  terminal(): void {
    this.#terminal.value++;
  }

  /** Counts an exception that the reconciler did not throw on purpose, in addition to `error`. */
  panic(): void {
    this.#panics.value++;
  }

  /** Counts a suspension of the controller, whose runs fail. */
  suspended(): void {
    this.#suspensions.value++;
  }

  /** Counts a run that passed its deadline. */
  timeout(): void {
    this.#timeouts.value++;
  }

  active(delta: 1 | -1): void {
    this.#active.value += delta;
    this.#activeHere += delta;
  }

  /** Sets the number of cancelled runs that have not settled. */
  stuck(count: number): void {
    this.#stuck.value += count - this.#stuckHere;
    this.#stuckHere = count;
  }

  [Symbol.dispose](): void {
    this.#active.value -= this.#activeHere;
    this.#activeHere = 0;
    this.stuck(0);
    this.#user.dispose();
  }
}
