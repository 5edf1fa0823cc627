/** Distinguishes a second signal from the first one delivered twice. */

/**
 * Milliseconds in which the same signal counts once. Whatever signals a whole process group, as a terminal does,
 * reaches a process directly and once more through a launcher that passes signals on. A launcher on a busy machine may
 * need a few hundred milliseconds.
 */
const ECHO_MS = 500;

/**
 * @param now a monotonic clock, in milliseconds.
 * @returns a function that distinguishes the second signal from an echo of the first one.
 */
export function signalRank(now: () => number): (signal: string) => "first" | "echo" | "second" {
  let first: { readonly signal: string; readonly at: number } | undefined;
  return (signal) => {
    if (first === undefined) {
      first = { signal, at: now() };
      return "first";
    }
    return signal === first.signal && now() - first.at < ECHO_MS ? "echo" : "second";
  };
}
