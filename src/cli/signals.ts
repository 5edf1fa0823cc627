/** Handles SIGTERM and SIGINT: the first one drains, the second one exits at once. */
import type { Log } from "../observe/log.ts";
import { signalRank } from "./signal-rank.ts";

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
