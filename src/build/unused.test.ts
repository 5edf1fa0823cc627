import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { markUsed, pruneUnused } from "./unused.ts";

let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "binnacle-cache-"));
});
afterEach(() => rm(cache, { recursive: true }));

test("pruneUnused removes what nobody has used for a month, and markUsed keeps it", async () => {
  const old = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  for (const name of ["runtime-1-linux-x64", "runtime-2-linux-x64"]) {
    await mkdir(join(cache, name));
    await writeFile(join(cache, name, "bun"), name);
    await utimes(join(cache, name), old, old);
  }
  await writeFile(join(cache, "binnacle-linux-x64-0123"), "new");
  await markUsed(join(cache, "runtime-2-linux-x64"));
  await markUsed(join(cache, "absent"));
  await pruneUnused(cache);
  expect((await readdir(cache)).sort()).toEqual(["binnacle-linux-x64-0123", "runtime-2-linux-x64"]);
  await pruneUnused(join(cache, "absent"));
});
