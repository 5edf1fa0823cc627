/**
 * The errors by which a reconciler says how to continue. They are recognised by name, so that a module's own copy works
 * too.
 */
import { type Duration, parseDuration } from "../resource/duration.ts";

/** The run is retried after this time instead of the back-off. */
export class RetryError extends Error {
  override readonly name = "RetryError" as const;
  /** Milliseconds. */
  readonly after: number;

  constructor(message: string, options: { readonly after: Duration; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.after = parseDuration(options.after, "after");
  }
}

/** The run is not retried: its key is parked until a new event arrives. */
export class TerminalError extends Error {
  override readonly name = "TerminalError" as const;
}

/** An object with a child's name exists that is not this object's child. */
export class NotOwned extends Error {
  override readonly name = "NotOwned" as const;
}

/** An object with a child's name has another controller. */
export class AlreadyOwned extends Error {
  override readonly name = "AlreadyOwned" as const;
}

/** Seconds after which a sender may try again. A successor leads within about that time when a replica hands over. */
const RETRY_AFTER = "2";

/**
 * Another replica works on the key, or will soon, so this one cannot take it. A route that does not catch this error
 * answers 503 with `Retry-After`.
 */
export class TryElsewhere extends Error {
  override readonly name = "TryElsewhere" as const;

  /** Returns the response of a Hono route that throws this error. */
  getResponse(): Response {
    const headers = { "retry-after": RETRY_AFTER, "content-type": "text/plain; charset=utf-8" };
    return new Response("503 this replica does not work the key: try again\n", { status: 503, headers });
  }
}

/**
 * Ends a run that waits for its children to become ready; their next event makes the key run again. It does not count
 * as a failure.
 */
export class WaitingForChildren extends Error {
  override readonly name = "WaitingForChildren" as const;
}
