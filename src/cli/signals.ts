/** Handles SIGTERM and SIGINT: the first one drains, for as long as that may take, and the second one exits at once. */
import type { Log } from "../observe/log.ts";
import type { RunSettings } from "../settings/run-options.ts";
import { signalRank } from "./signal-rank.ts";

/**
 * Milliseconds that a process has for its end beyond the grace period; with the default period, pods have one second
 * more.
 */
const LEEWAY = 14_000;

/**
 * Resolves at the first signal, and logs it. Operations that are still open when the time is over, such as a request
 * for credentials or output that nobody reads, end together with the process, whose exit status is 1.
 *
 * @param within milliseconds from the signal to the end of the process.
 */
export function stopSignal(log: Log, { within }: { readonly within: number }): Promise<void> {
  return whenSignalled((signal) => {
    log.info("Stopping: active runs finish; signal again to exit at once", { signal });
    const late = setTimeout(() => {
      log.error("The process ends although something is still open: the time for its end is over", {
        within: within / 1_000,
      });
      process.exit(1);
    }, within);
    late.unref();
  });
}

/** Returns the longest time from the signal to the end of a process with these options, in milliseconds. */
export function longestEnd(values: Pick<RunSettings, "shutdown-delay-duration" | "grace-period">): number {
  return values["shutdown-delay-duration"] + values["grace-period"] + LEEWAY;
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
