/** The timeout of a call that takes several requests. */
import { monotonic } from "../platform/clock.ts";

interface Timed {
  readonly timeout?: number | undefined;
}

/**
 * Returns the options of each request of a call: a request may take the remaining time of the call.
 *
 * @returns a function to be called for each request; it throws when the time is over.
 */
export function timeLeft<O extends Timed>(options: O): () => O {
  const { timeout } = options;
  if (timeout === undefined) return () => options;
  const clock = monotonic();
  const start = clock.now();
  return () => {
    const left = Math.ceil(start + timeout - clock.now());
    if (left > 0) return { ...options, timeout: left };
    const error = new Error(`Cannot finish the call: its ${timeout / 1_000} s are over`);
    error.name = "TimeoutError";
    throw error;
  };
}
