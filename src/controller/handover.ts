/** What a controller passes to its next version when its module is reloaded. */
import type { InformerHandler } from "../cache/informer-handler.ts";
import { isStub } from "../cache/projection.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import { type AnyObject, groupKind } from "../resource/handle.ts";
import type { ControllerShare } from "./controller-share.ts";
import { type Declarations, declarationsOf, isObjectController } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import type { EventMappingHost } from "./event-mapping.ts";
import type { ObjectSources } from "./object-sources.ts";
import type { PendingFinalizations } from "./pending-finalizations.ts";
import type { Workers } from "./workers.ts";

/**
 * From here on the version before begins nothing: no event reaches it, and no run of it begins. Its runs under way go on;
 * the queue keeps their keys from the next version until they end or can write nothing any more.
 */
export interface Handover extends ControllerVersion {
  /** With all keys that wait, are delayed, back off, are parked, or are with the workers of the version before. */
  readonly queue: WorkQueue;
  readonly queueMetrics: QueueMetrics;
  readonly workers: Workers;
  /** What is known to be on the server. */
  readonly applied: AppliedMemory;
  readonly pendingFinalizations: PendingFinalizations;
  /** Daemons that are to end, and the times of timers. */
  readonly objects: ObjectSources;
  /** All objects that left the selector before the process began have been found. */
  readonly hasFoundMissed: boolean;
  readonly share: ControllerShare | undefined;
  readonly hasSynced: boolean;
  /** A term of leadership has begun before. */
  readonly hasLed: boolean;
  /** When its sources began; `undefined` before. */
  readonly sourcesSince: number | undefined;
  /** Its handlers, by role and informer. */
  readonly handled: ReadonlySet<string>;
}

/** What tells one version of a controller from another. */
export interface ControllerVersion {
  readonly declarations: Declarations;
  isMember(object: AnyObject): boolean;
}

export function controllerVersion(
  declarations: Declarations,
  events: Pick<EventMappingHost, "call">,
): ControllerVersion {
  const { match } = declarations.for?.options ?? {};
  return {
    declarations,
    isMember: (object) => match === undefined || events.call("match", () => match(object)) === true,
  };
}

export type HandlerRole = "for" | "owns" | "watches";

/** Tells handlers that take the place of earlier ones what these were not told. */
export interface Retelling {
  /** The earlier handlers, by role and informer. */
  readonly handled: ReadonlySet<string>;
  tell(role: HandlerRole, informer: SharedInformer, handler: InformerHandler): void;
}

const THERE = Object.freeze({ isInInitialList: true });

/** Whether a controller is the next version of another one: of the same name, for the same keys. */
export function isNextVersion(next: AnyController, before: AnyController): boolean {
  const [now, then] = [declarationsOf(next), declarationsOf(before)];
  if (now.name !== then.name || isObjectController(next) !== isObjectController(before)) return false;
  if (JSON.stringify(next.shardBy) !== JSON.stringify(before.shardBy)) return false;
  return (
    now.for === undefined || then.for === undefined || groupKind(now.for.resource) === groupKind(then.for.resource)
  );
}

/**
 * What the next version is told of what is there. With `reconcile-all` every key runs; with `resume` those of objects that have
 * become members by a change of `match`, and those that are none any more and must be released.
 */
export function retelling(
  { onReload = "reconcile-all" }: Pick<AnyController, "onReload">,
  now: ControllerVersion,
  before: ControllerVersion & Pick<Handover, "handled">,
): Retelling {
  const isKeyed = now.declarations.for === undefined;
  // Objects without the finalizer of a `finalize` that is new would be gone without it.
  const isFinalizedAlike = now.declarations.finalizers.join() === before.declarations.finalizers.join();
  const isAll = onReload === "reconcile-all" || !isFinalizedAlike;
  const mayDiffer = [now, before].some(({ declarations }) => declarations.for?.options.match !== undefined);
  const isTold = (object: AnyObject): boolean => isAll || now.isMember(object) !== before.isMember(object);
  return {
    handled: before.handled,
    tell: (role, { store }, handler) => {
      // Every object of `for` runs, so what its children and other kinds map to runs too.
      const isNeeded = role === "for" ? isAll || mayDiffer : role === "watches" && isKeyed && isAll;
      if (!isNeeded) return;
      for (const object of store.values()) {
        if (!isStub(object) && (role !== "for" || isTold(object))) handler.onAdd(object, THERE);
      }
    },
  };
}
