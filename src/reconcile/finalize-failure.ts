/** What an object says of a `finalize` that fails: a warning Event each time, and a condition while it lasts. */
import type { Condition } from "../resource/meta.ts";
import { failureMessage } from "./failure-message.ts";
import type { ObjectRun } from "./object-run.ts";

/** The condition of a finalizer: each has its own, so that controllers of one kind do not fight over it. */
function finalizedCondition(finalizer: string): string {
  return `${finalizer}-finalized`;
}

/** Says that the finalizer stays, and why. */
export async function tellFailure(run: ObjectRun, finalizer: string, error: unknown): Promise<void> {
  const message = failureMessage(run, error);
  run.events.warning("FinalizeFailed", message);
  if (!(await hasConditions(run))) return;
  const before = present(run, finalizer);
  const isTold = before?.status === "False" && before.reason === "FinalizeFailed";
  // A write runs the other controllers of the object, and theirs this one: with messages that always differ they
  // would drive each other.
  if (isTold && (before.message === message || !isPowerOfTwo(run.attempt))) return;
  const type = finalizedCondition(finalizer);
  run.objectStatus.condition({ type, status: false, reason: "FinalizeFailed", message });
}

/** Takes back what was said, now that `finalize` has come through, or waits for something. */
export function takeBackFailure(run: ObjectRun, finalizer: string, now: "Finalized" | "Finalizing"): void {
  const before = present(run, finalizer);
  if (before === undefined || before.reason === now) return;
  run.objectStatus.condition({ type: finalizedCondition(finalizer), status: now === "Finalized", reason: now });
}

/** Whether the kind keeps conditions by their types, whoever sets them. */
async function hasConditions(run: ObjectRun): Promise<boolean> {
  try {
    return (await run.environment.statusShape.get()).conditions;
  } catch {
    return false; // the server is away, and could not be told either
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
