/** Handles SIGTERM and SIGINT: the first one drains, the second one exits at once. */
import type { Log } from "../observe/log.ts";

/**
 * Milliseconds in which the same signal counts once. Whatever signals a whole process group, as a terminal does, reaches a process
 * directly and once more through a launcher that passes signals on. A launcher on a busy machine may need a few hundred milliseconds.
 */
export const ECHO_MS = 500;

/** Resolves at the first signal, and logs it. */
export function stopSignal(log: Log): Promise<void> {
  return whenSignalled((signal) => log.info("Stopping: active runs finish; signal again to exit at once", { signal }));
}

/** Resolves at the first signal, after `onFirst`; the second one ends the process with exit status 1. */
export function whenSignalled(onFirst: (signal: string) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const rank = signalRank(() => performance.now());
  const handler = (signal: string): void => {
    const order = rank(signal);
    if (order === "second") process.exit(1);
    if (order === "echo") return;
    onFirst(signal);
    resolve();
  };
  process.on("SIGTERM", handler);
  process.on("SIGINT", handler);
  return promise;
}

/** @param now a monotonic clock, in milliseconds. @returns what tells the second signal from an echo of the first one. */
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
