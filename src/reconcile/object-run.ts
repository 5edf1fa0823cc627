/**
 * One run of one object: what the author's `reconcile` and `finalize` get as their context.
 *
 * Nothing that a reconciler does not touch is made: the members are getters, and the parts behind them come to life on
 * first use.
 */
import type { Client } from "../client/client.ts";
import { type ClientParts, KubeClient } from "../client/kube-client.ts";
import type { RunScope } from "../client/scope.ts";
import type { WriteGate } from "../client/write-gate.ts";
import type { ControllerEvents } from "../events/recorder.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject, Resource, Shape } from "../resource/handle.ts";
import { type Key, keyString, parseKey } from "../resource/meta.ts";
import type { AppliedMemory } from "./applied-memory.ts";
import { ChildSet } from "./child-set.ts";
import type { Children } from "./children.ts";
import type { Cause, Logger, ObjectContext, RunContext, RunEvents } from "./context.ts";
import type { OwnedKind } from "./owned-kind.ts";
import type { StatusWriter } from "./status.ts";
import { ObjectStatus } from "./status-writer.ts";

/** What all runs of a controller share. */
export interface RunEnvironment {
  readonly controller: string;
  readonly parts: ClientParts;
  readonly clock: Clock;
  readonly log: { with(fields: object): Logger };
  readonly events: ControllerEvents;
  /** Closed at the loss of leadership and when the controller has stopped. */
  readonly gate: WriteGate;
}

/** What the runs of an object controller share besides. */
export interface ObjectEnvironment extends RunEnvironment {
  readonly resource: Resource;
  /** The controller's name and its earlier names. */
  readonly managers: readonly string[];
  readonly owned: readonly OwnedKind[];
  /** The object as the cache has it now. */
  latest(key: string): AnyObject | undefined;
  readonly memory: AppliedMemory;
}

/** What one item of the queue brings. */
export interface RunCause {
  readonly key: string;
  readonly attempt: number;
  readonly causes: readonly Cause[];
}

/** The part of a run that needs no object; it is its own gate: closed when the run is over or cancelled. */
export class KeyRun implements RunContext, RunScope {
  readonly environment: RunEnvironment;
  readonly cause: RunCause;
  #closed: string | undefined;
  #abort: AbortController | undefined;
  #client: Client | undefined;
  #log: Logger | undefined;
  #origin: string | undefined;

  constructor(environment: RunEnvironment, cause: RunCause) {
    this.environment = environment;
    this.cause = cause;
  }

  get gate(): WriteGate {
    return this;
  }

  get refused(): string | undefined {
    return this.environment.gate.refused ?? this.#closed;
  }

  get origin(): string {
    return (this.#origin ??= originOf(this.environment.controller, this.cause.key));
  }

  get key(): Key {
    return parseKey(this.cause.key);
  }

  get attempt(): number {
    return this.cause.attempt;
  }

  get causes(): readonly Cause[] {
    return this.cause.causes;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#closed !== undefined) this.#abort.abort(new Error(this.#closed));
    return this.#abort.signal;
  }

  get requestSignal(): AbortSignal | undefined {
    return this.#abort?.signal;
  }

  get client(): Client {
    return (this.#client ??= new KubeClient(this.environment.parts, this));
  }

  get log(): Logger {
    return (this.#log ??= this.environment.log.with({ controller: this.environment.controller, key: this.cause.key }));
  }

  /** From now on the run's signal has fired and its writes are refused. */
  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#abort?.abort(new Error(reason));
  }
}

/** A run with an object: status, children and events belong to it. */
export class ObjectRun extends KeyRun implements ObjectContext<Shape, Shape> {
  declare readonly environment: ObjectEnvironment;
  /** The object as this run sees it; own writes replace it. */
  object: AnyObject;
  readonly deleting: boolean;
  #children: ChildSet | undefined;
  #status: ObjectStatus | undefined;
  #events: RunEvents | undefined;

  constructor(environment: ObjectEnvironment, cause: RunCause, object: AnyObject) {
    super(environment, cause);
    this.object = object;
    this.deleting = object.metadata.deletionTimestamp !== undefined;
  }

  get children(): Children<Shape> {
    return this.childSet as unknown as Children<Shape>;
  }

  get childSet(): ChildSet {
    return (this.#children ??= new ChildSet(this));
  }

  get status(): StatusWriter<Shape> {
    return (this.#status ??= new ObjectStatus(this));
  }

  get events(): RunEvents {
    return (this.#events ??= {
      normal: (reason, message) => this.environment.events.record(this.object, { type: "Normal", reason, message }),
      warning: (reason, message) => this.environment.events.record(this.object, { type: "Warning", reason, message }),
    });
  }

  /** The newest state of the object: the cache's, which own writes reach at once. */
  latest(): AnyObject {
    const latest = this.environment.latest(keyString(this.object.metadata));
    return latest !== undefined && latest.metadata.uid === this.object.metadata.uid ? latest : this.object;
  }

  /** Writes what was set of the status and not yet written. */
  async settle(): Promise<void> {
    if (this.#status !== undefined) await this.#status.flush();
  }
}

/** Marks the writes of a controller's run for one key. */
export function originOf(controller: string, key: string): string {
  return `${controller}:${key}`;
}
