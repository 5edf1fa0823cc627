/** Collects garbage at once. */

/** Collects everything that nothing refers to, and gives free memory back to the system. */
export function collectGarbage(): void {
  Bun.gc(true);
}
