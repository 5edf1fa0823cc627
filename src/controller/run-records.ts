/** Begins and ends the records of a controller's runs, if runs are recorded. */
import type { OutcomeAnswer } from "../history/run-answer.ts";
import type { RunHistory } from "../history/run-history.ts";
import type { RunRecord } from "../history/run-record.ts";
import { placesOfInterest } from "../observe/log-line.ts";
import { causesText, type QueueItem } from "../queue/entries.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import { failureMessage } from "../reconcile/kept-secrets.ts";
import type { KeyRun } from "../reconcile/key-run.ts";
import { ObjectRun } from "../reconcile/object-run.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { Outcome } from "./outcome.ts";

export function beginRecord(
  history: RunHistory,
  { module, declarations }: ControllerScope,
  { item, run }: { readonly item: QueueItem; readonly run: KeyRun },
): RunRecord | undefined {
  const { key, attempt, waited, causes } = item;
  const subject = run instanceof ObjectRun ? { resource: run.environment.resource, object: run.object } : undefined;
  const { name: controller } = declarations;
  return history.begin({ module, controller, key, attempt, waited, causes, subject, phase: phaseOf(run) });
}

/** Ends the record of a run whose outcome the queue has taken. */
export function endRecord(run: KeyRun, outcome: Outcome, queue: Pick<WorkQueue, "delayedUntil" | "parked">): void {
  const { key } = run.item;
  const next = queue.delayedUntil(key);
  const error = "error" in outcome ? outcome.error : undefined;
  run.record?.end(
    {
      result: queue.parked.has(key) ? "parked" : RESULTS[outcome.kind],
      error: error === undefined ? undefined : failureMessage(run, error),
      stack: outcome.kind === "fail" ? stackOf(run, error) : undefined,
      after: "after" in outcome ? outcome.after : undefined,
      next: next === undefined ? undefined : new Date(next).toISOString(),
    },
    phaseOf(run),
  );
}

function stackOf(run: KeyRun, error: unknown): string | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined;
  return run.clean(placesOfInterest({ name: error.name, stack: error.stack }));
}

const RESULTS: Readonly<Record<Outcome["kind"], OutcomeAnswer["result"]>> = {
  done: "success",
  requeue: "requeueAfter",
  deferred: "deferred",
  retry: "retry",
  fail: "error",
  park: "parked",
  unreachable: "unreachable",
  cancelled: "cancelled",
};

function phaseOf(run: KeyRun): RunRecord["phase"] {
  if (!(run instanceof ObjectRun)) return "reconcile";
  if (run.releasing) return "release";
  return run.finalizing || run.deleting || run.leftSelector ? "finalize" : "reconcile";
}

/** The causes of a run as text, with the changed places if the record has compared the states. */
export function becauseOf(run: KeyRun): string {
  return causesText(run.causes, run.record !== undefined);
}
