/**
 * The parts that the runs of a controller share, and the view of a run for its own parts (children, status, finalizer).
 */
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

/** The parts that all runs of a controller share. */
export interface ControllerEnvironment {
  readonly controller: string;
  readonly core: ClientCore;
  readonly transport: Transport;
  readonly mapper: RestMapper;
  readonly clock: Clock;
  readonly log: {
    with(fields: object, clean?: (text: string) => string): Logger;
    enabled(level: "debug" | "info" | "warn" | "error"): boolean;
  };
  readonly events: ControllerRecorder;
  /** The metrics object of the author's code. @default none */
  readonly metrics?: object | undefined;
  /** The services of plugins. @default none */
  readonly services?: UseService | undefined;
  /** The gate of the controller, closed when leadership is lost and when the controller has stopped. */
  readonly gate: WriteGate;
}

/** The further parts that the runs of an object controller share. */
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
  /** Returns the present object from the cache. */
  latest(key: string): AnyObject | undefined;
  readonly memory: AppliedMemory;
}

/** The queue item that a run is for. */
export interface RunItem {
  readonly key: string;
  readonly attempt: number;
  readonly causes: readonly Cause[];
}

/** The state of an object's run, for its parts. */
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

/** The origin of the runtime's writes for a key: children, status, finalizers. */
export function originOf(controller: string, key: string): string {
  return `${controller}:${key}`;
}

/** The origin of manual writes of the author's code in a run of the key. */
export function handOriginOf(controller: string, key: string): string {
  return `+${controller}:${key}`; // no controller's name begins with a plus sign
}

/** The origin of a daemon's writes: they are news to the key, like writes of anybody else. */
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
    record: run.record,
    object: run.object,
    get requestSignal() {
      return run.requestSignal;
    },
    latest: () => run.latest(),
    keep: (resource, object) => run.keep(resource, object),
  };
}
