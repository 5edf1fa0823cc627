/** Reports a failing `finalize` on its object: by a warning Event each time, and by a condition while it lasts. */
import type { Condition } from "../resource/meta.ts";
import { failureMessage } from "./failure-message.ts";
import type { ObjectRun } from "./object-run.ts";

/**
 * The type of a finalizer's condition. Each finalizer has its own, so that controllers of one kind do not overwrite
 * each other's.
 */
function finalizedCondition(finalizer: string): string {
  return `${finalizer}-finalized`;
}

/** Reports that the finalizer stays, and why. */
export async function tellFailure(run: ObjectRun, finalizer: string, error: unknown): Promise<void> {
  const message = failureMessage(run, error);
  run.events.warning("FinalizeFailed", message);
  if (!(await hasConditions(run))) return;
  const before = present(run, finalizer);
  const isTold = before?.status === "False" && before.reason === "FinalizeFailed";
  // A write makes the other controllers of the object run, and theirs this one: with messages that always differ they
  // would keep each other running.
  if (isTold && (before.message === message || !isPowerOfTwo(run.attempt))) return;
  const type = finalizedCondition(finalizer);
  run.statusWriter.condition({ type, status: false, reason: "FinalizeFailed", message });
}

/** Withdraws the report once `finalize` has succeeded or waits for something. */
export function takeBackFailure(run: ObjectRun, finalizer: string, now: "Finalized" | "Finalizing"): void {
  const before = present(run, finalizer);
  if (before === undefined || before.reason === now) return;
  run.statusWriter.condition({ type: finalizedCondition(finalizer), status: now === "Finalized", reason: now });
}

/** Whether the kind keeps conditions by their types, whoever sets them. */
async function hasConditions(run: ObjectRun): Promise<boolean> {
  try {
    return (await run.environment.statusShape.get()).conditions;
  } catch {
    return false; // the server is unreachable, so the status could not be written either
  }
}

function present(run: ObjectRun, finalizer: string): Condition | undefined {
  const { status } = run.latest() as { readonly status?: { readonly conditions?: readonly Condition[] } };
  const type = finalizedCondition(finalizer);
  return status?.conditions?.find((condition) => condition.type === type);
}

function isPowerOfTwo(attempt: number): boolean {
  return (attempt & (attempt - 1)) === 0;
}
