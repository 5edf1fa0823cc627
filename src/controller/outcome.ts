/** The outcome of a run, which decides what the queue does with its key. */
import { isUnreachable } from "../kube/errors/api-error.ts";
import type { Result } from "../reconcile/context.ts";
import { parseDuration } from "../resource/duration.ts";

/** How a run ended. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "requeue"; readonly after: number; readonly priority: number | undefined }
  /** A hook has postponed the run before it began. */
  | { readonly kind: "deferred"; readonly after: number; readonly priority: number | undefined }
  /** The run failed, and the author has set the time of the retry instead of the back-off. */
  | { readonly kind: "retry"; readonly after: number; readonly error: unknown }
  | { readonly kind: "fail"; readonly error: unknown }
  | { readonly kind: "park"; readonly error: unknown }
  /** The server is unreachable, which is no failure of the key: it runs again once the server responds. */
  | { readonly kind: "unreachable"; readonly error: unknown }
  /** The run was cancelled from outside, so its result does not count. */
  | { readonly kind: "cancelled"; readonly error: unknown };

/** A mandatory hook has failed, which is no failure of the controller's author. */
export class HookFailed extends Error {
  override readonly name = "HookFailed" as const;
}

/** Thrown in place of a run that a hook has postponed. */
export class RunDeferred extends Error {
  override readonly name = "RunDeferred" as const;
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super("a hook has put the run off");
    this.outcome = outcome;
  }
}

const DONE: Outcome = Object.freeze({ kind: "done" });

const RESULT_KEYS = new Set(["requeueAfter", "priority"]);

/** Reads the value that `reconcile` returned. An invalid value counts as a failure, like a type error. */
export function outcomeOf(result: void | Result): Outcome {
  if (result === undefined) return DONE;
  if (typeof result !== "object" || result === null) {
    return {
      kind: "fail",
      error: new TypeError(
        `Cannot read the result of reconcile: expected an object, got ${result === null ? "null" : typeof result}`,
      ),
    };
  }
  for (const name of Object.keys(result)) {
    if (!RESULT_KEYS.has(name)) {
      return {
        kind: "fail",
        error: new TypeError(
          `Cannot read the result of reconcile: unknown key '${name}', allowed are requeueAfter and priority`,
        ),
      };
    }
  }
  const { requeueAfter, priority } = result;
  if (priority !== undefined && !Number.isFinite(priority)) {
    return {
      kind: "fail",
      error: new TypeError(`Cannot use ${JSON.stringify(priority)} as 'priority': expected a number`),
    };
  }
  if (requeueAfter === undefined) return DONE;
  try {
    return { kind: "requeue", after: parseDuration(requeueAfter, "requeueAfter"), priority };
  } catch (error) {
    return { kind: "fail", error };
  }
}

/**
 * Reads the value that `reconcile` threw. Errors are recognised by name, because a module may have its own copy of a
 * class.
 */
export function outcomeOfError(thrown: unknown, cancelled: boolean): Outcome {
  const error = readable(thrown);
  if (cancelled) return { kind: "cancelled", error };
  const name = error instanceof Error ? error.name : undefined;
  switch (name) {
    case "WaitingForChildren":
      return DONE;
    case "RunDeferred":
      return (error as RunDeferred).outcome;
    case "RetryError":
      return { kind: "retry", after: (error as { after?: number }).after ?? 0, error };
    case "TerminalError":
      return { kind: "park", error };
    case "WritesRefused":
      return { kind: "cancelled", error };
    default:
      return isUnreachable(error) ? { kind: "unreachable", error } : { kind: "fail", error };
  }
}

/** Makes a printable error of the thrown value, because an author's code may throw anything. */
function readable(thrown: unknown): unknown {
  if (thrown === undefined || thrown === null) return new TypeError(`Reconcile threw ${thrown}`);
  try {
    String(thrown instanceof Error ? [thrown.name, thrown.message, thrown.stack] : thrown);
    return thrown;
  } catch {
    return new TypeError("Reconcile threw something that cannot be read");
  }
}

/** Whether an error is a bug rather than a refusal: JavaScript itself throws it. */
export function isPanic(error: unknown): boolean {
  return (
    !(error instanceof Error) ||
    error.name === "TypeError" ||
    error.name === "ReferenceError" ||
    error.name === "RangeError"
  );
}
