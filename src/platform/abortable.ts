/** Waits for shared work without ending it. */

/**
 * Settles like the promise, or rejects with the signal's reason when that comes first.
 *
 * The work behind the promise continues, and no listener remains.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    throw signal.reason;
  }
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Returns a signal that fires with the first of these signals; `undefined` when there is none. */
export function anySignal(first: AbortSignal, ...more: readonly (AbortSignal | undefined)[]): AbortSignal;
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined;
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const present = signals.filter((signal) => signal !== undefined);
  return present.length > 1 ? AbortSignal.any(present) : present[0];
}
