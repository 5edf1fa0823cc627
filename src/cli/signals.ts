/** Handles SIGTERM and SIGINT: the first one drains, the second one exits at once. */
import type { Log } from "../observe/log.ts";

/** Resolves at the first signal, and logs it. */
export function stopSignal(log: Log): Promise<void> {
  return whenSignalled((signal) => log.info("Stopping: active runs finish; signal again to exit at once", { signal }));
}

/** Resolves at the first signal, after `onFirst`; the second one ends the process with exit status 1. */
export function whenSignalled(onFirst: (signal: string) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let first = true;
  const handler = (signal: string): void => {
    if (!first) process.exit(1);
    first = false;
    onFirst(signal);
    resolve();
  };
  process.on("SIGTERM", handler);
  process.on("SIGINT", handler);
  return promise;
}
