/** Waiting, but not for ever. */
import type { Clock } from "../platform/clock.ts";

/** Waits for the work, but not longer than so many milliseconds. @returns whether it ended. */
export async function within(ms: number, wait: { work: Promise<void>; clock: Clock }): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  using _timer = wait.clock.setTimeout(() => late.resolve(false), ms);
  return await Promise.race([wait.work.then(() => true), late.promise]);
}
