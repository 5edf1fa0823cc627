/** The hooks around runs, and the values that they receive. */
import type { Cause, Result } from "../reconcile/context.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { Key } from "../resource/meta.ts";

/** A run, as hooks see it. */
export interface HookedRun {
  readonly module: string;
  readonly controller: string;
  readonly key: Key;
  /** The object when the run begins; `undefined` for a key without an object. */
  readonly object: AnyObject | undefined;
  /** 1 for the first run after a success. */
  readonly attempt: number;
  readonly causes: readonly Cause[];
  /** Fires when the run must end. */
  readonly signal: AbortSignal;
}

/** How a run ended. */
export interface RunOutcome {
  /**
   * `requeue`: the run succeeded, and the key runs again after `after`; `error`: the key is retried, with back-off or
   * after `after`; `terminal`: the key is parked; `unreachable`: the API server cannot be reached; `cancelled`: the
   * run was cancelled from outside; `deferred`: a hook postponed it.
   */
  readonly result: "success" | "requeue" | "error" | "terminal" | "unreachable" | "cancelled" | "deferred";
  readonly error?: unknown;
  /** Milliseconds. */
  readonly after?: number | undefined;
}

/**
 * Called in place of each run. `next` begins it, with the hooks further in, and resolves with its outcome; it never
 * rejects.
 *
 * A hook that postpones the run returns `{ requeueAfter }` without calling `next`, or throws a RetryError or a
 * TerminalError. Its result or error after `next` does not affect the run.
 */
export type AroundHook = (run: HookedRun, next: () => Promise<RunOutcome>) => Promise<void | Result>;

/**
 * Decides what happens to a run when a hook fails before it has called `next`: the run goes on, or it counts as failed.
 */
export type FailurePolicy = "Ignore" | "Fail";
