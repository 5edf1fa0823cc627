/** What becomes of a key after its run. */
import { isUnreachable } from "../kube/errors/api-error.ts";
import type { Result } from "../reconcile/context.ts";
import { parseDuration } from "../resource/duration.ts";

/** How a run ended, and with it what the queue does with the key. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "requeue"; readonly after: number; readonly priority: number | undefined }
  /** Fails, with the author's time to the next try instead of the back-off. */
  | { readonly kind: "retry"; readonly after: number; readonly error: unknown }
  | { readonly kind: "fail"; readonly error: unknown }
  | { readonly kind: "park"; readonly error: unknown }
  /** The server is away: no failure of the key, which runs again when the server is back. */
  | { readonly kind: "unreachable"; readonly error: unknown }
  /** The run was cancelled from outside, so what it says counts for nothing. */
  | { readonly kind: "cancelled"; readonly error: unknown };

const DONE: Outcome = Object.freeze({ kind: "done" });

const RESULT_KEYS = new Set(["requeueAfter", "priority"]);

/** Reads the value that `reconcile` returned; a value that means nothing is an error, as it would be in a type check. */
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

/** Reads what `reconcile` threw. Errors are told by name: a module may have its own copy of a class. */
export function outcomeOfError(thrown: unknown, cancelled: boolean): Outcome {
  const error = readable(thrown);
  if (cancelled) return { kind: "cancelled", error };
  const name = error instanceof Error ? error.name : undefined;
  switch (name) {
    case "WaitingForChildren":
      return DONE;
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

/** What was thrown, as something that can be named and printed: an author's code may throw anything. */
function readable(thrown: unknown): unknown {
  if (thrown === undefined || thrown === null) return new TypeError(`Reconcile threw ${thrown}`);
  try {
    String(thrown instanceof Error ? [thrown.name, thrown.message, thrown.stack] : thrown);
    return thrown;
  } catch {
    return new TypeError("Reconcile threw something that cannot be read");
  }
}
