/** What an object says of children that were left out because their names are somebody else's: Events and a condition. */
import type { Condition } from "../resource/meta.ts";
import type { SkippedChild } from "./children.ts";
import type { RunEvents } from "./context.ts";
import type { ObjectRunState } from "./run.ts";
import type { ObjectStatus } from "./status-writer.ts";

/** A run, as far as children that were left out concern it. */
interface Telling extends Pick<ObjectRunState, "environment" | "latest"> {
  readonly events: RunEvents;
  readonly objectStatus: Pick<ObjectStatus, "condition">;
}

const MOST = 1_024;

/** Whether the object says that children were left out. */
export function saysSkipped(run: Pick<Telling, "environment" | "latest">): boolean {
  const { status } = run.latest() as { readonly status?: { readonly conditions?: readonly Condition[] } };
  const type = run.environment.childrenCondition;
  return status?.conditions?.some((condition) => condition.type === type && condition.status === "False") === true;
}

/** Says which children were left out and why, or takes it back; the status is written with the rest of it. */
export async function tellSkipped(run: Telling, skipped: readonly SkippedChild[]): Promise<void> {
  for (const { message } of skipped) run.events.warning("ChildSkipped", message);
  const { statusShape, childrenCondition: type } = run.environment;
  if (!(await statusShape.get()).conditions) return;
  if (skipped.length === 0) {
    run.objectStatus.condition({ type, status: true, reason: "Synced" });
    return;
  }
  const message = skipped.map((child) => child.message).join("; ");
  run.objectStatus.condition({ type, status: false, reason: "ChildSkipped", message: message.slice(0, MOST) });
}
