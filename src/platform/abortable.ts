/** Waits for something shared without ending it. */

/**
 * Settles as the promise does, or rejects with the signal's reason when that comes first.
 *
 * The work behind the promise goes on; no listener stays behind.
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
