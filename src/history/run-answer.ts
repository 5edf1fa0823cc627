/**
 * What the debug listener tells of a run, as JSON. Times are ISO 8601 with milliseconds, durations are milliseconds.
 *
 * Lists are bounded; `more` says how many changes were left out, and `truncated` that other parts were.
 */

export interface KindRef {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface ObjectRef extends KindRef {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** One difference between two states of an object. */
export interface Change {
  /** The place, written as in `spec.template.spec.containers[name=web].image`. */
  readonly path: string;
  /** The earlier value; absent when the place was added. */
  readonly old?: unknown;
  /** The later value; absent when the place was removed. */
  readonly new?: unknown;
  /** Whether sensitive text was taken out of the values. */
  readonly redacted?: true | undefined;
  /** Whether a value is only the beginning, as a text. */
  readonly cut?: true | undefined;
}

export interface Changes {
  readonly changes?: readonly Change[] | undefined;
  /** At least how many further changes there are. */
  readonly more?: number | undefined;
}

/** Who made a state of an object, by its managed fields. */
export interface ChangedBy {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string | undefined;
  readonly at?: string | undefined;
}

/** A span, by the ids that traces have everywhere: 32 and 16 hexadecimal digits. */
export interface SpanRef {
  readonly trace: string;
  readonly span: string;
}

/** A run of this process. */
export interface RunRef {
  readonly id: string;
  readonly controller: string;
  readonly key: string;
  /** The span of the write, when the run is traced. */
  readonly write?: SpanRef | undefined;
}

export interface CauseAnswer extends Changes {
  readonly source: string;
  readonly type: string;
  readonly object?: ObjectRef | undefined;
  readonly at: string;
  readonly resourceVersion?: string | undefined;
  readonly by?: ChangedBy | undefined;
  /** The run whose write caused the event. */
  readonly run?: RunRef | undefined;
}

/** Equal reads, counted. */
export interface ReadAnswer {
  readonly verb: "get" | "list";
  readonly kind: KindRef;
  /** The key of the object; of a list its namespace, or nothing for all. */
  readonly key?: string | undefined;
  readonly from: "cache" | "server";
  readonly count: number;
  readonly resourceVersion?: string | undefined;
}

export interface RequestAnswer extends Changes {
  readonly verb: string;
  readonly object: ObjectRef;
  readonly subresource?: string | undefined;
  readonly dryRun?: true | undefined;
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly reason?: string | undefined;
  readonly error?: string | undefined;
  /** Milliseconds after the run began. */
  readonly at: number;
  readonly duration: number;
  /** Whether the runtime sent it on behalf of children, status and finalizers, or the author's code. */
  readonly by: "runtime" | "author";
  /** The id of its span, which those link to that its event causes; only of writes in a run that is traced. */
  readonly span?: string | undefined;
}

export type ChildAction =
  "created" | "changed" | "unchanged" | "deleted" | "skipped" | "adopted" | "released" | "failed";

export interface ChildAnswer extends Changes {
  /** The name in the set. */
  readonly name: string;
  readonly object: ObjectRef;
  readonly action: ChildAction;
  readonly error?: string | undefined;
}

export interface StatusAnswer extends Changes {
  readonly changes: readonly Change[];
  /** The conditions that the run has set; `was` is the status before, if there was one. */
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string | undefined;
    readonly was?: string | undefined;
  }[];
}

export interface EventAnswer {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly about: ObjectRef;
}

export interface LogLine {
  readonly at: string;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface OutcomeAnswer {
  readonly result: "success" | "requeueAfter" | "error" | "retry" | "parked" | "cancelled" | "unreachable" | "deferred";
  readonly error?: string | undefined;
  readonly stack?: string | undefined;
  /** The milliseconds after which the key runs again. */
  readonly after?: number | undefined;
  /** The time at which the key runs again. */
  readonly next?: string | undefined;
}

export interface RunAnswer {
  readonly id: string;
  readonly replica: string;
  readonly module: string;
  readonly controller: string;
  readonly key: string;
  readonly object?: ObjectRef | undefined;
  readonly phase: "reconcile" | "finalize" | "release";
  readonly at: string;
  /** How long the key was ready before it ran. */
  readonly waited: number;
  /** Absent while the run is under way. */
  readonly duration?: number | undefined;
  readonly attempt: number;
  readonly causes: readonly CauseAnswer[];
  readonly reads: readonly ReadAnswer[];
  readonly requests: readonly RequestAnswer[];
  readonly children: readonly ChildAnswer[];
  readonly status?: StatusAnswer | undefined;
  readonly finalizer?: "added" | "removed" | undefined;
  readonly events: readonly EventAnswer[];
  readonly log: readonly LogLine[];
  readonly outcome?: OutcomeAnswer | undefined;
  /** The span of the run, when it is traced. */
  readonly trace?: SpanRef | undefined;
  readonly truncated?: true | undefined;
}
