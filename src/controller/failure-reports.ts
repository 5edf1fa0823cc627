/** Reports runs that keep failing on their object: by an Event, and by a condition if the controller asks for one. */
import type { Clock } from "../platform/clock.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import { failureMessage } from "../reconcile/kept-secrets.ts";
import type { KeyRun } from "../reconcile/key-run.ts";
import { ObjectRun } from "../reconcile/object-run.ts";
import type { Condition } from "../resource/meta.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { Outcome } from "./outcome.ts";

/** Consecutive failures after which they are reported. */
const DEFAULT_AFTER = 3;
/** Milliseconds after which a message that differs each time is reported at the latest. */
const TELL_EVERY = 600_000;

interface Report {
  readonly message: string;
  readonly at: number;
}

export class FailureReports {
  readonly #clock: Clock;
  readonly #after: number;
  /** The type of the condition; `undefined` when there is none. */
  readonly #condition: string | undefined;
  /** The last report for each key whose last run failed. */
  readonly #reports = new Map<string, Report>();

  constructor({ controller, declarations, runtime }: ControllerScope) {
    const { tellAfter = DEFAULT_AFTER, condition = false } = controller.retry ?? {};
    this.#clock = runtime.clock;
    this.#after = tellAfter;
    const resource = declarations.for?.resource;
    if (condition === false || resource === undefined) return;
    this.#condition = condition === true ? `${finalizerName(resource, declarations.name)}-reconciled` : condition;
  }

  /** Called while the run can still write. @returns a promise only when a report is written. */
  ended(run: KeyRun, outcome: Outcome): Promise<void> | undefined {
    if (!(run instanceof ObjectRun) || run.finalizing) return undefined; // failures of finalization report themselves
    switch (outcome.kind) {
      case "done":
      case "requeue":
        return this.#succeeded(run);
      case "fail":
        return this.#failed(run, outcome.error);
      case "park":
        return this.#says(run, {
          status: false,
          reason: "ReconcileParked",
          message: failureMessage(run, outcome.error),
        });
      default:
        return undefined;
    }
  }

  /** Called when the key of the run is parked. */
  parked(run: KeyRun, reason: string): void {
    if (run instanceof ObjectRun) run.events.warning("ReconcileParked", reason);
  }

  forget(key: string): void {
    this.#reports.delete(key);
  }

  #failed(run: ObjectRun, error: unknown): Promise<void> | undefined {
    const { attempt } = run;
    if (attempt < this.#after) return undefined;
    const message = failureMessage(run, error);
    const { key } = run.item;
    const report = this.#reports.get(key);
    const now = this.#clock.now();
    // Equal Events become one with a count. Messages that differ each time are reported less often, because each would
    // be an Event of its own, and a changed status makes the other controllers of the object run.
    const isDue =
      report === undefined || report.message === message || now - report.at >= TELL_EVERY || isPower(attempt);
    if (!isDue) return undefined;
    this.#reports.set(key, { message, at: now });
    run.events.warning("ReconcileFailed", message);
    if (report?.message === message && this.#present(run)?.status === "False") return undefined;
    return this.#says(run, { status: false, reason: "ReconcileFailed", message });
  }

  #succeeded(run: ObjectRun): Promise<void> | undefined {
    if (this.#reports.size > 0) this.#reports.delete(run.item.key);
    if (this.#condition === undefined || this.#present(run)?.status !== "False") return undefined;
    return this.#says(run, { status: true, reason: "Reconciled", message: "" });
  }

  async #says(
    run: ObjectRun,
    what: { readonly status: boolean; readonly reason: string; readonly message: string },
  ): Promise<void> {
    const type = this.#condition;
    if (type === undefined) return;
    try {
      if (!(await run.environment.statusShape.get()).conditions) return;
      run.statusWriter.condition({ type, ...what });
      await run.flush();
    } catch (error) {
      run.log.debug("Cannot say in the status how the run ended", { error });
    }
  }

  #present(run: ObjectRun): Condition | undefined {
    const { status } = run.latest() as { readonly status?: { readonly conditions?: readonly Condition[] } };
    return status?.conditions?.find(({ type }) => type === this.#condition);
  }
}

function isPower(attempt: number): boolean {
  return (attempt & (attempt - 1)) === 0;
}
