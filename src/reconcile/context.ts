/** The types of a run's context. */
import type { Client, KeyOf } from "../client/client.ts";
import type { WrittenMetrics } from "../observe/author-metric.ts";
import type { Cause } from "../resource/cause.ts";
import type { Duration } from "../resource/duration.ts";
import type { Desired, Shape } from "../resource/handle.ts";
import type { Key } from "../resource/meta.ts";
import type { UseService } from "./services.ts";

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
   * cases the run's writes are refused from then on; in the last it may finish within the grace period.
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
   * Reserves time for work that must not be cut off when the module leaves: the signal of `work` then fires only at the
   * end of the grace period.
   */
  readonly mustFinish: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** 1 for the first run after a success or a new event of a parked key. */
  readonly attempt: number;
  /**
   * The reasons for this run: merged, limited in number, newest last. They are for logs, traces and people; logic may
   * use only the values of daemons.
   */
  readonly causes: readonly Cause[];
  /**
   * Returns a service of a plugin. It may be kept: it always calls the service of the plugin's running version. Using
   * it while no module provides it is a RetryError, so that the run is tried again after a second.
   */
  readonly service: UseService;
  /** The controller's `metrics`, by the names of their declaration, for writing. */
  readonly metrics: WrittenMetrics<Metrics>;
  readonly log: Logger;
}

/** Kubernetes Events about the object of the run. */
export interface RunEvents {
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
}

/** A cause in a run of a controller; `Values` are the values that its daemons pass on, by name. */
export type CauseOf<Values> = [keyof Values] extends [never]
  ? Cause
  : string extends keyof Values
    ? Cause
    : (Cause & { readonly daemon?: undefined; readonly value?: undefined }) | HandedOver<Values, keyof Values & string>;

type HandedOver<Values, D extends keyof Values & string> = D extends string
  ? Cause & { readonly daemon: D; readonly value?: Values[D] | undefined }
  : never;

/**
 * The further members of the context of a run with an object. `Values` are the values that its daemons pass on, by
 * name.
 */
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

/** The context of a daemon. `Value` is the value that it passes on. */
export interface DaemonContext<S extends Shape, Value = unknown, Metrics = {}> {
  readonly client: Client;
  readonly key: Key;
  /**
   * Fires when the daemon must end: the object is being deleted or no longer belongs to the controller, the module
   * leaves, or this replica no longer works on the object. It does not fire when the daemon has resolved. The daemon's
   * writes are refused once leadership is lost, otherwise at the end of the grace period.
   */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch, by the controller's clock, which a test can replace. */
  readonly now: () => number;
  /** Waits, by the same clock. @throws the signal's reason when it fires. */
  readonly sleep: RunContext["sleep"];
  /** The number of the attempt: 1 for the first start, and one more for each consecutive failure. */
  readonly attempt: number;
  /** Returns a service of a plugin, as in a run. */
  readonly service: UseService;
  /** Writes the controller's `metrics`. */
  readonly metrics: WrittenMetrics<Metrics>;
  readonly log: Logger;
  readonly events: RunEvents;
  /** Returns the present object from the cache. */
  readonly latest: () => S["read"];
  /**
   * Queues the object's key; the run's cause has the reason, and carries the value. For each reason the newest value
   * counts, and at most 8 causes are kept. A value is in the causes of each run until one has succeeded. It is kept in
   * memory and lost with the process: the daemon that begins in the next one must determine it again.
   *
   * @throws TypeError for a value that does not fit the daemon's schema.
   */
  readonly enqueue: (reason?: string, value?: Value) => void;
}

/** The result of a run that is to run again later. */
export interface Result {
  /** Runs again after this time, unless an event comes first. */
  readonly requeueAfter?: Duration | undefined;
  /** The priority of that run; higher priorities run first. @default the priority of this run */
  readonly priority?: number | undefined;
}

/** The names of the conditions that a status declares. */
type ConditionType<Status> = Status extends { readonly conditions?: readonly (infer C)[] | undefined }
  ? C extends { readonly type: infer T extends string }
    ? T
    : never
  : never;

/** `context.status` of an object controller. */
export interface StatusWriter<S extends Shape> {
  /**
   * Merges fields over those that this controller wrote before; `undefined` removes a field. Written once, at the end
   * of the run.
   */
  set(fields: {
    readonly [K in keyof Omit<S["status"] & object, "conditions">]?: (S["status"] & object)[K] | undefined;
  }): void;
  /**
   * Sets one condition; the others stay. `lastTransitionTime` and `observedGeneration` are maintained automatically.
   */
  condition(condition: {
    readonly type: ConditionType<S["status"]>;
    readonly status: boolean | "Unknown";
    readonly reason: string;
    readonly message?: string;
  }): void;
  /**
   * Writes the fields that were set so far at once. With `dryRun` the server checks them and stores nothing; they are
   * nevertheless written at the end of the run.
   */
  flush(options?: { readonly dryRun?: boolean }): Promise<void>;
}

type ReadOf<Owned extends Shape, D> = D extends { readonly apiVersion: infer A; readonly kind: infer K }
  ? Extract<Owned, { readonly apiVersion: A; readonly kind: K }>["read"]
  : never;

/** The reaction when an object with a child's name is not this object's child. */
export type OnForeign = "skip" | "fail";

/** The objects on the server after the sync, by the names of the set; nothing for a child that was left out. */
export type Synced<Owned extends Shape, T, Foreign extends OnForeign = "fail"> = {
  readonly [K in keyof T]: T[K] extends readonly (infer U)[]
    ? readonly ReadOf<Owned, U>[]
    : undefined extends T[K]
      ? ReadOf<Owned, NonNullable<T[K]>> | undefined
      : ReadOf<Owned, T[K]> | (Foreign extends "skip" ? undefined : never);
};

/** The type error of a set without a child: its name is the message. */
interface NameEachChildUndefinedWhereNotWanted {
  readonly "an empty set would delete all": never;
}

/** The type error of `after` with a child that the set does not contain: its name is the message. */
type NoOtherChildOfThisNameInTheSet = string & { readonly "name one of the set": never };

type Others<Name, K> = [Exclude<Name, K>] extends [never] ? NoOtherChildOfThisNameInTheSet : Exclude<Name, K>;

/** A child of a kind in the controller's `owns`, several of them, or none. */
type OneOfOwns<Owned extends Shape> = Desired<Owned> | readonly Desired<Owned>[] | undefined;

/** The options of {@link Children.sync}; every name is a name in the set. */
export interface SyncOptions<Name, Foreign extends OnForeign = OnForeign> {
  /**
   * Children that are applied only when the named ones are ready; until then the run ends at the call and waits for
   * their events. Conversely, the named ones are deleted only when the children that came after them are gone.
   */
  readonly after?: { readonly [K in Name & string]?: readonly Others<Name, K>[] };
  /** Left in place when no longer desired. */
  readonly keep?: readonly Name[];
  /** Children that are released when no longer desired: they stay as they are, without an owner. */
  readonly release?: readonly Name[];
  /** Without it a set that would delete the last child of a living object is refused. @default false */
  readonly allowEmpty?: boolean;
  /** Takes over existing objects without a controller: all, or the named ones. @default false */
  readonly adopt?: boolean | readonly Name[];
  /**
   * The reaction when an object with a child's name is not this object's child. `"fail"` refuses the whole set before
   * any write. `"skip"` leaves that child out and applies the others: `skipped` names it, an Event reports it and, if
   * the kind has `conditions(…)`, so does the condition `<group>/<controller>-children`; the key runs again from time
   * to time. Children that come `after` it wait.
   *
   * @default "fail"
   */
  readonly onForeign?: Foreign;
  /**
   * The server checks and answers, and stores nothing: neither children nor deletions. Such a call does not count as
   * the run's one sync, and its result shows the objects that would exist. @default false
   */
  readonly dryRun?: boolean;
}

/** A child that `children.sync` skipped, because an object with its name is not this object's child. */
export interface SkippedChild {
  /** The child's name in the set. */
  readonly name: string;
  readonly kind: string;
  /** The key of the existing object. */
  readonly key: Key;
  readonly reason: "NotOwned" | "AlreadyOwned";
  readonly message: string;
}

/** `context.children` of an object controller. */
export interface Children<Owned extends Shape> {
  /**
   * Brings this object's children in the cluster to the desired set.
   *
   * Call it once per run, with the whole set by name; `undefined` and `[]` mean: not wanted. It prunes after all
   * applies have succeeded, and sends no request when nothing differs.
   *
   * **Guarantees.** Once it has resolved, each child has all desired values, whatever others have changed, even while
   * no controller ran. Additions of others stay if the schema allows that. A field that is no longer desired is
   * removed, unless another field manager has set it too.
   *
   * @throws NotOwned when an existing object of a child's name is not this object's child, AlreadyOwned when it is
   * another's, unless `onForeign` is `"skip"`.
   * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/
   */
  sync<const T extends { readonly [name: string]: OneOfOwns<Owned> }, Foreign extends OnForeign = "fail">(
    desired: keyof T extends never ? NameEachChildUndefinedWhereNotWanted : T,
    options?: SyncOptions<keyof T, Foreign>,
  ): Promise<Synced<Owned, T, Foreign>>;
  /** The children that `sync` left out with `onForeign: "skip"`. */
  readonly skipped: readonly SkippedChild[];
}
