/** Reports skipped children, whose names are taken by objects of others, by Events and a condition. */
import type { Condition } from "../resource/meta.ts";
import type { SkippedChild } from "./children.ts";
import type { RunEvents } from "./context.ts";
import type { ObjectRunState } from "./run.ts";
import type { ObjectStatusWriter } from "./status-writer.ts";

/** The part of a run that reporting skipped children needs. */
interface Telling extends Pick<ObjectRunState, "environment" | "latest"> {
  readonly events: RunEvents;
  readonly statusWriter: Pick<ObjectStatusWriter, "condition">;
}

const MOST = 1_024;

/** Whether the object's condition reports skipped children. */
export function saysSkipped(run: Pick<Telling, "environment" | "latest">): boolean {
  const { status } = run.latest() as { readonly status?: { readonly conditions?: readonly Condition[] } };
  const type = run.environment.childrenCondition;
  return status?.conditions?.some((condition) => condition.type === type && condition.status === "False") === true;
}

/**
 * Reports which children were skipped and why, or withdraws the report. The condition is written with the rest of the
 * status.
 */
export async function tellSkipped(run: Telling, skipped: readonly SkippedChild[]): Promise<void> {
  for (const { message } of skipped) run.events.warning("ChildSkipped", message);
  const { statusShape, childrenCondition: type } = run.environment;
  if (!(await statusShape.get()).conditions) return;
  if (skipped.length === 0) {
    run.statusWriter.condition({ type, status: true, reason: "Synced" });
    return;
  }
  const message = skipped.map((child) => child.message).join("; ");
  run.statusWriter.condition({ type, status: false, reason: "ChildSkipped", message: message.slice(0, MOST) });
}
