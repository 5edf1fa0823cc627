/** What an object says of a `finalize` that fails: a warning Event each time, and a condition while it lasts. */
import { definitionOf } from "../resource/define.ts";
import type { Resource } from "../resource/handle.ts";
import type { Condition } from "../resource/meta.ts";
import type { ObjectRun } from "./object-run.ts";

const MOST = 1_024;

/** The condition of a finalizer: each has its own, so that controllers of one kind do not fight over it. */
function finalizedCondition(finalizer: string): string {
  return `${finalizer}-finalized`;
}

/** Says that the finalizer stays, and why. */
export function tellFailure(run: ObjectRun, finalizer: string, error: unknown): void {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MOST);
  run.events.warning("FinalizeFailed", message);
  if (!hasConditions(run.environment.resource)) return;
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

function present(run: ObjectRun, finalizer: string): Condition | undefined {
  const { status } = run.latest() as { readonly status?: { readonly conditions?: readonly Condition[] } };
  const type = finalizedCondition(finalizer);
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Whether the kind keeps conditions by their types, whoever sets them; of foreign kinds nobody knows. */
function hasConditions(resource: Resource): boolean {
  const version = definitionOf(resource)?.versions.find(({ name }) => name === resource.version);
  const conditions = version?.schema.properties?.["status"]?.properties?.["conditions"];
  return conditions?.["x-kubernetes-list-type"] === "map";
}

function isPowerOfTwo(attempt: number): boolean {
  return (attempt & (attempt - 1)) === 0;
}
