/** Starts many calls that may all fail for the same reason. */

/**
 * Calls `start` up to `count` times in parallel batches of 1, 2, 4 and so on; a batch with a failure is the last one.
 *
 * @throws the first failure, once its batch has ended.
 */
export async function slowStart(count: number, start: () => Promise<unknown>): Promise<void> {
  for (let begun = 0, size = 1; begun < count; begun += size, size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - begun) }, () => start());
    const failed = (await Promise.allSettled(batch)).find(({ status }) => status === "rejected");
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  }
}
