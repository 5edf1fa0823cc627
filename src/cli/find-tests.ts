/** Finds the tests in a folder. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns every `*.test.ts` and similar file below a folder, or the given file itself, sorted. Links to folders are not
 * followed.
 *
 * @throws Error when the folder does not exist.
 */
export function findTests(folder: string): readonly string[] {
  return statSync(folder).isDirectory() ? testsIn(folder).sort() : [folder];
}

function testsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : testsIn(path);
    return /\.test\.[cm]?[jt]sx?$/.test(entry.name) ? [path] : [];
  });
}
