/** SIGTERM and SIGINT: the first one asks to drain, the second one exits at once. */

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
