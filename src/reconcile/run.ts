/** What the runs of a controller share, and what the parts of a run (children, status, finalizer) know of it. */
import type { ClientCore } from "../client/kube-client.ts";
import type { RequestContext } from "../client/client-scope.ts";
import type { WriteGate } from "../client/write-gate.ts";
import type { ControllerEvents } from "../events/recorder.ts";
import type { Clock } from "../platform/clock.ts";
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { Cause, Logger } from "./context.ts";
import type { OwnedKind } from "./owned-kind.ts";
import type { StatusContention } from "./status-contention.ts";
import type { KnownStatusShape } from "./status-shape.ts";

/** What all runs of a controller share. */
export interface ControllerEnvironment {
  readonly controller: string;
  readonly core: ClientCore;
  readonly transport: Transport;
  readonly mapper: RestMapper;
  readonly clock: Clock;
  readonly log: {
    with(fields: object, clean?: (text: string) => string): Logger;
    enabled(level: "debug"): boolean;
  };
  readonly events: ControllerEvents;
  /** Closed at the loss of leadership and when the controller has stopped. */
  readonly gate: WriteGate;
}

/** What the runs of an object controller share besides. */
export interface ObjectControllerEnvironment extends ControllerEnvironment {
  readonly resource: Resource;
  readonly statusShape: Pick<KnownStatusShape, "get" | "forget">;
  readonly contention: StatusContention;
  /** The controller's name and its earlier names. */
  readonly managers: readonly string[];
  readonly owned: readonly OwnedKind[];
  /** The condition that says which children were left out. */
  readonly childrenCondition: string;
  /** Told after each sync whether children were left out: then the key looks again after a while. */
  skippedChildren(key: string, isAny: boolean): void;
  /** The object as the cache has it now. */
  latest(key: string): AnyObject | undefined;
  readonly memory: AppliedMemory;
}

/** What one item of the queue brings. */
export interface RunItem {
  readonly key: string;
  readonly attempt: number;
  readonly causes: readonly Cause[];
}

/** A run of an object, as its parts see it. */
export interface ObjectRunState extends RequestContext {
  readonly environment: ObjectControllerEnvironment;
  readonly item: RunItem;
  /** The object as this run sees it; own writes replace it. */
  object: AnyObject;
  readonly deleting: boolean;
  readonly log: Logger;
  keep(resource: Resource, object: unknown): void;
  /** The newest state of the object: the cache's, which own writes reach at once. */
  latest(): AnyObject;
}

/** Marks what the runtime writes for a key to reach what its run declared: children, status, finalizers. */
export function originOf(controller: string, key: string): string {
  return `${controller}:${key}`;
}

/** Marks what the author's code writes by hand in a run of the key. */
export function handOriginOf(controller: string, key: string): string {
  return `+${controller}:${key}`; // no controller's name begins so
}
