/** What the runs of a controller share, and the view of a run that its parts (children, status, finalizer) have. */
import { AppliedMemory } from "../client/applied-memory.ts";
import type { RequestContext } from "../client/client-scope.ts";
import type { ClientCore } from "../client/kube-client.ts";
import type { WriteGate } from "../kube/transport/write-gate.ts";
import type { ControllerRecorder } from "../events/recorder.ts";
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { Cause, Logger } from "./context.ts";
import type { OwnedKind } from "./owned-kind.ts";
import type { UseService } from "./services.ts";
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
  readonly events: ControllerRecorder;
  /** What the author's code writes the controller's metrics with. @default none */
  readonly metrics?: object | undefined;
  /** The services of plugins. @default none */
  readonly services?: UseService | undefined;
  /** The gate of the controller, closed when leadership is lost and when the controller has stopped. */
  readonly gate: WriteGate;
}

/** What the runs of an object controller share in addition. */
export interface ObjectControllerEnvironment extends ControllerEnvironment {
  readonly resource: Resource;
  readonly statusShape: Pick<KnownStatusShape, "get" | "forget">;
  readonly contention: StatusContention;
  /** The controller's name and its earlier names. */
  readonly managers: readonly string[];
  readonly owned: readonly OwnedKind[];
  /** The type of the condition that reports skipped children. */
  readonly childrenCondition: string;
  /** Called after each sync with whether children were skipped; if so, the key runs again after a while. */
  skippedChildren(key: string, isAny: boolean): void;
  /** The object as it is in the cache now. */
  latest(key: string): AnyObject | undefined;
  readonly memory: AppliedMemory;
}

/** The queue item that a run is for. */
export interface RunItem {
  readonly key: string;
  readonly attempt: number;
  readonly causes: readonly Cause[];
}

/** The state of a run of an object that its parts work with. */
export interface ObjectRunState extends RequestContext {
  readonly environment: ObjectControllerEnvironment;
  readonly item: RunItem;
  /** The object in the state that this run knows; own writes replace it. */
  object: AnyObject;
  readonly deleting: boolean;
  readonly log: Logger;
  keep(resource: Resource, object: unknown): void;
  /** The newest state of the object, from the cache, which own writes update at once. */
  latest(): AnyObject;
}

/** The origin of what the runtime writes for a key: children, status, finalizers. */
export function originOf(controller: string, key: string): string {
  return `${controller}:${key}`;
}

/** The origin of what the author's code writes by hand in a run of the key. */
export function handOriginOf(controller: string, key: string): string {
  return `+${controller}:${key}`; // no controller's name begins with a plus sign
}

/** The origin of what a daemon of the key's object writes: news to the key, as what anybody else writes. */
export function daemonOriginOf(controller: string, key: string): string {
  return `~${controller}:${key}`; // no controller's name begins with a tilde
}

/** The same run with dry writes; their responses are not remembered. */
export function dryRunOf(run: ObjectRunState): ObjectRunState {
  const { environment, gate, origin, item, deleting, log } = run;
  return {
    environment: { ...environment, memory: new AppliedMemory() },
    gate,
    origin,
    item,
    deleting,
    log,
    dryRun: true,
    object: run.object,
    get requestSignal() {
      return run.requestSignal;
    },
    latest: () => run.latest(),
    keep: (resource, object) => run.keep(resource, object),
  };
}
