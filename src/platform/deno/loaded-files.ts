/** Deno does not reveal which files it has loaded. */
import type { LoadedFile } from "../loaded-files.ts";

/** Yields nothing. */
export function* loadedFiles(): Generator<LoadedFile> {}
