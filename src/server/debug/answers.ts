/**
 * The answers of the debug listener, as JSON. The terminal commands and the dashboard read the same ones.
 *
 * Times are ISO 8601 with milliseconds, durations are milliseconds. An absent field means that the value is not known
 * or does not apply.
 */
import type { KindRef, ObjectRef, RunAnswer } from "../../history/run-answer.ts";

export type KindAnswer = KindRef;

/** `GET /debug/history`: the runs of one object, and how they came about. */
export interface HistoryAnswer {
  readonly object?: ObjectRef | undefined;
  /** The state in the cache; absent when no cache holds the object. */
  readonly present?: PresentAnswer | undefined;
  /** The controllers of this process that reconcile such objects. */
  readonly controllers: readonly string[];
  /** The states of its keys that are queued, running or parked. */
  readonly keys: readonly KeyAnswer[];
  /** The runs of the object, the newest first. */
  readonly runs: readonly RunAnswer[];
  /** The runs of other objects that have written this one, the newest first. */
  readonly writers: readonly RunAnswer[];
  /** The runs whose writes have caused the others, directly or through further ones. */
  readonly linked: readonly RunAnswer[];
}

export interface PresentAnswer {
  readonly resourceVersion: string;
  readonly generation?: number | undefined;
  readonly isDeleting: boolean;
  /** Whether the cache holds more than the name of the object. */
  readonly isWhole: boolean;
  readonly conditions: readonly ConditionAnswer[];
}

/** `GET /debug/runs`: the newest first. */
export interface RunsAnswer {
  readonly runs: readonly RunAnswer[];
}

/** The name of one object. */
export interface ObjectName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** `GET /debug/process`: the process itself. */
export interface ProcessAnswer {
  readonly version?: string | undefined;
  /** The name of the pod, or of the machine. */
  readonly replica: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly now: string;
  readonly mode: "run" | "dev";
  /** The API server. */
  readonly server: ServerAnswer;
  /** Whether the process works; `undefined` without elections. */
  readonly isLeader?: boolean | undefined;
  readonly isPaused: boolean;
  readonly log: LogLevelsAnswer;
  readonly memory: {
    /** Bytes that the process uses. */
    readonly used: number;
    /** Bytes that it stays below. */
    readonly limit?: number | undefined;
  };
  /** The recorder of runs. */
  readonly history: HistoryUse;
  /** Whether `/readyz` passes. */
  readonly isReady: boolean;
  /** The checks of `/readyz` that fail, and the notes that `?verbose` lists. */
  readonly checks: readonly CheckAnswer[];
}

export interface CheckAnswer {
  readonly name: string;
  /** `failed` for a check that makes `/readyz` fail, `note` for a state that is only listed. */
  readonly result: "failed" | "note";
  readonly reason: string;
}

export interface ServerAnswer {
  readonly address: string;
  readonly isReachable: boolean;
  /** Connections that carry watches. */
  readonly sessions: number;
  readonly watches: number;
  /** Short requests under way. */
  readonly inFlight: number;
  readonly protocol: string;
  /** The number of answers, by method and status. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface LogLevelsAnswer {
  readonly level: string;
  /** The levels of the modules that have one of their own. */
  readonly modules: Readonly<Record<string, string>>;
}

/** The memory of the recorder. */
export interface HistoryUse {
  readonly runs: number;
  readonly bytes: number;
  readonly limit: number;
  /** The number of runs that made place for newer ones. */
  readonly dropped: number;
  /** The time at which recording began. */
  readonly since: string;
}

/** `GET /debug/modules`. */
export interface ModulesAnswer {
  readonly modules: readonly ModuleAnswer[];
}

export interface ModuleAnswer {
  readonly name: string;
  readonly file: string;
  /** The state as `/readyz?verbose` and `binnacle_module_state` show it; `paused` comes first. */
  readonly state: string;
  readonly message?: string | undefined;
  /** The number of failures of its code outside of runs. */
  readonly errors: number;
  readonly reloads: { readonly succeeded: number; readonly failed: number };
  readonly controllers: readonly ControllerAnswer[];
}

/** The states of keys, by the glossary's words. */
export type KeyStateName = (typeof KEY_STATES)[number];

/** The states, ordered so that keys which need attention come first. */
export const KEY_STATES = ["parked", "stuck", "failing", "running", "waiting", "delayed"] as const;

export interface ControllerAnswer {
  readonly name: string;
  readonly kind?: KindAnswer | undefined;
  readonly state: string;
  readonly message?: string | undefined;
  readonly concurrency: number;
  /** The number of keys in each state. */
  readonly keys: Readonly<Record<KeyStateName, number>>;
}

/** `GET /debug/informers`. */
export interface InformersAnswer {
  readonly informers: readonly InformerAnswer[];
}

export interface InformerAnswer {
  readonly kind: KindAnswer;
  /** The namespaces and selectors; empty for all objects. */
  readonly selector: string;
  /** The paths that are kept; `undefined` for whole objects. */
  readonly keep?: string | undefined;
  /** The names of the controllers that share it. */
  readonly users: readonly string[];
  readonly state: string;
  readonly message?: string | undefined;
  readonly hasSynced: boolean;
  readonly objects: number;
  readonly bytes: number;
  /** The time of the last list, event or bookmark. */
  readonly lastEvent?: string | undefined;
  /** The number of lists after the first, by reason. */
  readonly relists: Readonly<Record<string, number>>;
  /** The number of changes that a checking list found and no event had told of. */
  readonly differences: number;
}

/** `GET /debug/keys`: keys that are queued, running or parked, the most troubled first. */
export interface KeysAnswer {
  readonly keys: readonly KeyAnswer[];
  /** The number of keys that match, of which `keys` may be only the first. */
  readonly total: number;
}

export interface KeyAnswer {
  readonly controller: string;
  readonly module: string;
  readonly kind?: KindAnswer | undefined;
  readonly key: string;
  readonly state: KeyStateName;
  /** Since when it waits, runs or is parked. */
  readonly since?: string | undefined;
  /** Until when it is delayed or in back-off. */
  readonly until?: string | undefined;
  /** The number of consecutive failures. */
  readonly failures: number;
  /** The last error, or the reason why it is parked. */
  readonly reason?: string | undefined;
  readonly priority: number;
  /** Why it is queued, newest last. */
  readonly causes: readonly string[];
}

/** `GET /debug/leases`: the elections and shares of the keys that this replica takes part in. */
export interface LeasesAnswer {
  /** The states, in the words of `/readyz?verbose`. */
  readonly leases: readonly { readonly name: string; readonly state: string }[];
}

/** `GET /debug/webhooks`. */
export interface WebhooksAnswer {
  /** The address of the listener; `undefined` while no module has webhooks. */
  readonly address?: string | undefined;
  readonly webhooks: readonly WebhookAnswer[];
  /** The certificates, and until when they are valid. */
  readonly certificates: readonly { readonly name: string; readonly expires: string }[];
}

export interface WebhookAnswer {
  /** The registered name; for a conversion the kind. */
  readonly name: string;
  readonly path: string;
  /** `mutating`, `validating` or `conversion`. */
  readonly type: string;
}

/** One second of the process: `GET /debug/overview` answers the last minutes, `/debug/stream` sends the newest. */
export interface OverviewAnswer {
  readonly at: string;
  /** Runs that ended within the second, and how many of them failed. */
  readonly runs: number;
  readonly errors: number;
  /** Durations of these runs. */
  readonly p50?: number | undefined;
  readonly p99?: number | undefined;
  /** The number of keys in each state, of all controllers. */
  readonly keys: Readonly<Record<KeyStateName, number>>;
  /** Requests that the API server answered within the second. */
  readonly requests: number;
  /** Bytes that the process uses. */
  readonly memory: number;
  readonly controllers: Readonly<Record<string, { readonly runs: number; readonly errors: number }>>;
}

/** A line of the log, in `GET /debug/log`. */
export interface LogLineAnswer {
  readonly at: string;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** `GET /debug/owners`: an object with those that it owns, from the topmost owner that the caches know. */
export interface OwnersAnswer {
  readonly root: OwnedAnswer;
}

export interface OwnedAnswer extends KindAnswer, ObjectName {
  readonly uid: string;
  /** Whether the question was about this object. */
  readonly isSubject: boolean;
  readonly isDeleting: boolean;
  /** The controllers of this process that reconcile it. */
  readonly controllers: readonly string[];
  readonly conditions: readonly ConditionAnswer[];
  readonly owned: readonly OwnedAnswer[];
}

export interface ConditionAnswer {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** The answer to running a key by request. */
export interface RetryAnswer {
  readonly controller: string;
  readonly key: string;
}

/** A ticket that a page exchanges for the token. */
export interface TicketAnswer {
  readonly ticket?: string;
}

/** The answer to pausing and resuming. */
export interface PauseAnswer {
  readonly isPaused: boolean;
  /** The modules that are paused by themselves. */
  readonly modules: readonly string[];
}

/** What is wrong with a request. */
export interface ErrorAnswer {
  readonly error: string;
}
