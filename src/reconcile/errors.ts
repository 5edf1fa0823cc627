/** What a reconciler throws to say how to go on. Recognised by name, so that a module's own copy works too. */
import { type Duration, parseDuration } from "../resource/duration.ts";

/** Retries after the given time instead of the back-off. */
export class RetryError extends Error {
  override readonly name = "RetryError" as const;
  /** Milliseconds. */
  readonly after: number;

  constructor(message: string, options: { readonly after: Duration; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.after = parseDuration(options.after, "after");
  }
}

/** Not retried: the key is parked until something about it changes. */
export class TerminalError extends Error {
  override readonly name = "TerminalError" as const;
}

/** An object of a child's name exists, and nobody of ours made it. */
export class NotOwned extends Error {
  override readonly name = "NotOwned" as const;
}

/** An object of a child's name has another controller. */
export class AlreadyOwned extends Error {
  override readonly name = "AlreadyOwned" as const;
}

/** Ends a run that waits for its children to become ready; their next event runs the key again. Not a failure. */
export class WaitingForChildren extends Error {
  override readonly name = "WaitingForChildren" as const;
}
