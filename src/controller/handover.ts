/** What a controller passes to its next version when its module is reloaded. */
import { isStub } from "../cache/object-transformer.ts";
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import { type AnyObject, groupKind } from "../resource/handle.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { ControllerShare } from "./controller-share.ts";
import { type Declarations, declarationsOf, isObjectController } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import type { Members } from "./members.ts";
import type { ObjectSources } from "./object-sources.ts";
import type { PendingFinalizations } from "./pending-finalizations.ts";
import type { Retelling } from "./watched-kinds.ts";
import type { Workers } from "./workers.ts";

/**
 * From here on the previous version receives no event and begins no run. Its active runs go on; the queue withholds
 * their keys from the next version until they end or can no longer write.
 */
export interface Handover {
  readonly declarations: Declarations;
  readonly members: Pick<Members, "has">;
  /**
   * The queue with all keys, whether they wait, are delayed, back off, are parked, or are with the workers of the
   * previous version.
   */
  readonly queue: WorkQueue;
  readonly queueMetrics: QueueMetrics;
  readonly workers: Workers;
  /** The memory of what is applied on the server. */
  readonly applied: AppliedMemory;
  readonly pendingFinalizations: PendingFinalizations;
  /** The daemons that must end, and the times of timers. */
  readonly objects: ObjectSources;
  /** Whether all objects have been found that left the selector before the process began. */
  readonly hasFoundMissed: boolean;
  readonly share: ControllerShare | undefined;
  readonly hasSynced: boolean;
  /** Whether a term of leadership has begun before. */
  readonly hasLed: boolean;
  /** The time at which its sources began; `undefined` before that. */
  readonly sourcesSince: number | undefined;
  /** Its handlers, by role and informer. */
  readonly handled: ReadonlySet<string>;
}

const THERE = Object.freeze({ isInInitialList: true });

/** Whether a controller is the next version of another one: it has the same name and the same kind of keys. */
export function isNextVersion(next: AnyController, before: AnyController): boolean {
  const [now, then] = [declarationsOf(next), declarationsOf(before)];
  if (now.name !== then.name || isObjectController(next) !== isObjectController(before)) return false;
  if (JSON.stringify(next.shardBy) !== JSON.stringify(before.shardBy)) return false;
  return (
    now.for === undefined || then.for === undefined || groupKind(now.for.resource) === groupKind(then.for.resource)
  );
}

/**
 * Selects the existing objects for which the next version is called. With `reconcile-all` every key runs. With
 * `resume`, only the keys of new members (after a change of `match`) and of former members (which must be released)
 * run.
 */
export function retelling(
  { controller, declarations }: Pick<ControllerScope, "controller" | "declarations">,
  members: Pick<Members, "has">,
  before: Pick<Handover, "declarations" | "members" | "handled">,
): Retelling {
  const { onReload = "reconcile-all" } = controller;
  const isKeyed = declarations.for === undefined;
  // An object without the finalizer of a new `finalize` could be deleted without it.
  const isFinalizedAlike = declarations.finalizers.join() === before.declarations.finalizers.join();
  const isAll = onReload === "reconcile-all" || !isFinalizedAlike;
  const mayDiffer = [declarations, before.declarations].some(({ for: watch }) => watch?.options.match !== undefined);
  const isTold = (object: AnyObject): boolean => isAll || members.has(object) !== before.members.has(object);
  return {
    handled: before.handled,
    tell: (role, { store }, handler) => {
      // Every object of `for` runs, so the keys that its children and other kinds map to run too.
      const isNeeded = role === "for" ? isAll || mayDiffer : role === "watches" && isKeyed && isAll;
      if (!isNeeded) return;
      for (const object of store.values()) {
        if (!isStub(object) && (role !== "for" || isTold(object))) handler.onAdd(object, THERE);
      }
    },
  };
}
