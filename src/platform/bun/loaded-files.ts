/** Lists the files that this process has loaded, with their exports. */
import { createRequire } from "node:module";
import type { LoadedFile } from "../loaded-files.ts";

/** Yields the loaded files except those of installed packages, and those that still run. */
export function* loadedFiles(): Generator<LoadedFile> {
  for (const [file, loaded] of Object.entries(createRequire(import.meta.url).cache)) {
    if (loaded === undefined || file.includes("/node_modules/")) continue;
    const exports: unknown = loaded.exports;
    if (typeof exports !== "object" || exports === null) continue;
    try {
      yield { file, exports: Object.values(exports) };
    } catch {
      // The export has no value yet, because the file still runs.
    }
  }
}
