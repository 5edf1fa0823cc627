/** Waits with a time limit. */
import type { Clock } from "../platform/clock.ts";

/** Waits for the work for at most this many milliseconds. @returns whether it has ended. */
export async function within(ms: number, wait: { work: Promise<void>; clock: Clock }): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  using _timer = wait.clock.setTimeout(() => late.resolve(false), ms);
  return await Promise.race([wait.work.then(() => true), late.promise]);
}
