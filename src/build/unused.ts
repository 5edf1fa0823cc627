/** A cache keeps the files that were used lately. */
import { readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

const UNUSED_DAYS = 30;

/** Notes that something in a cache is used. */
export async function markUsed(path: string): Promise<void> {
  const now = new Date();
  // If the time cannot be changed, the entry is made again some day.
  await utimes(path, now, now).catch(() => {});
}

/** Removes files from a cache that were not used for a month. */
export async function pruneUnused(cache: string): Promise<void> {
  const before = Date.now() - UNUSED_DAYS * 24 * 60 * 60 * 1000;
  for (const name of await readdir(cache).catch(() => [])) {
    const path = join(cache, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats !== undefined && stats.mtimeMs < before) await rm(path, { recursive: true, force: true });
  }
}
