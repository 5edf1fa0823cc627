/** The types of a run's context. */
import type { Client, KeyOf } from "../client/client.ts";
import type { WrittenMetrics } from "../observe/author-metric.ts";
import type { Cause } from "../resource/cause.ts";
import type { Shape } from "../resource/handle.ts";
import type { Key } from "../resource/meta.ts";
import type { Duration } from "../resource/duration.ts";
import type { Children } from "./children.ts";
import type { UseService } from "./services.ts";
import type { StatusWriter } from "./status.ts";

/** Writes lines that carry the controller, the key and the run. */
export interface Logger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

export type { Cause };

/** The context of every run, with an object or without. `Metrics` are those that its controller declares. */
export interface RunContext<Metrics = {}> {
  readonly client: Client;
  readonly key: Key;
  /**
   * Fires at the run's timeout, at the loss of leadership, and as soon as the module is to leave. In the first two
   * cases the run's writes are refused from then on; in the last the run has the grace period to come to its end.
   */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch, by the controller's clock, which a test can replace. */
  readonly now: () => number;
  /**
   * Waits, by the same clock; a number is milliseconds.
   *
   * @param options `signal` ends the wait instead of the run's.
   * @throws the signal's reason when it fires, and an error when the run may write no more.
   */
  readonly sleep: (duration: Duration, options?: { readonly signal?: AbortSignal }) => Promise<void>;
  /**
   * Asks for time for what must not be cut off when the module leaves: `work` gets a signal that then fires only at the
   * end of the grace period.
   */
  readonly mustFinish: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** 1 for the first run after a success or a new event of a parked key. */
  readonly attempt: number;
  /**
   * Why this run happens: bounded, merged, newest last. For logs, traces and people, not for logic, but for the values
   * that daemons hand over.
   */
  readonly causes: readonly Cause[];
  /**
   * Returns what a plugin provides under this name. It may be kept: it always leads to what the plugin's running
   * version provides. Using it while no module provides it is a RetryError, so that the run is tried again after a
   * second.
   */
  readonly service: UseService;
  /** Writes the controller's `metrics`, by the names that they have there. */
  readonly metrics: WrittenMetrics<Metrics>;
  readonly log: Logger;
}

/** Kubernetes Events about the object of the run. */
export interface RunEvents {
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
}

/** A cause in a run of a controller; `Values` are what its daemons hand over, by name. */
export type CauseOf<Values> = [keyof Values] extends [never]
  ? Cause
  : string extends keyof Values
    ? Cause
    : (Cause & { readonly daemon?: undefined; readonly value?: undefined }) | HandedOver<Values, keyof Values & string>;

type HandedOver<Values, D extends keyof Values & string> = D extends string
  ? Cause & { readonly daemon: D; readonly value?: Values[D] | undefined }
  : never;

/** What the context of a run with an object has in addition. `Values` are what its daemons hand over, by name. */
export interface ObjectContext<
  S extends Shape,
  Owned extends Shape,
  Values = {},
  Metrics = {},
> extends RunContext<Metrics> {
  readonly key: KeyOf<S>;
  readonly causes: readonly CauseOf<Values>[];
  readonly status: StatusWriter<S>;
  readonly children: Children<Owned>;
  readonly events: RunEvents;
}

/** The context of a daemon. `Value` is what it hands over. */
export interface DaemonContext<S extends Shape, Value = unknown, Metrics = {}> {
  readonly client: Client;
  readonly key: Key;
  /**
   * Fires when the daemon is to end: the object is being deleted or belongs to the controller no more, the module
   * leaves, or this replica works the object no more. It does not fire when the daemon has resolved. What the daemon
   * writes is refused once leadership is lost, and otherwise at the end of the grace period.
   */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch, by the controller's clock, which a test can replace. */
  readonly now: () => number;
  /** Waits, by the same clock. @throws the signal's reason when it fires. */
  readonly sleep: RunContext["sleep"];
  /** 1 for the first start, and one more for each failure in a row. */
  readonly attempt: number;
  /** Returns what a plugin provides under this name, as in a run. */
  readonly service: UseService;
  /** Writes the controller's `metrics`. */
  readonly metrics: WrittenMetrics<Metrics>;
  readonly log: Logger;
  readonly events: RunEvents;
  /** The object as the cache has it now. */
  readonly latest: () => S["read"];
  /**
   * Queues the object's key; the reason is shown as the cause of the run, and the value is handed over in it. Of one
   * reason the newest value counts, of all 8. A value is in the causes of each run until one has succeeded. It is kept
   * in memory: what must not be lost with the process is found out anew by the daemon that begins there.
   *
   * @throws TypeError for a value that does not fit the daemon's schema.
   */
  readonly enqueue: (reason?: string, value?: Value) => void;
}

/** What a run may return in order to run again later. */
export interface Result {
  /** Runs again after so long, unless an event comes first. */
  readonly requeueAfter?: Duration | undefined;
  /** The priority of that run; higher runs first. @default the priority of this run */
  readonly priority?: number | undefined;
}
