/** Finds the file of an import by a path, as Bun does: endings may be left out, and `.js` may stand for `.ts`. */
import { realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const ENDINGS = [".tsx", ".ts", ".jsx", ".js", ".mts", ".mjs", ".cts", ".cjs", ".json"];

/** Returns the file at a path; `undefined` when there is none. */
function findFile(path: string): string | undefined {
  if (isFile(path)) return path;
  const source = /^(.+)\.([cm]?)js(x?)$/.exec(path);
  const written = source === null ? [] : [`${source[1]}.${source[2]}ts${source[3]}`, `${source[1]}.tsx`];
  const named = [...written, ...ENDINGS.map((ending) => path + ending)].find(isFile);
  return named ?? ENDINGS.map((ending) => join(path, `index${ending}`)).find(isFile);
}

/** Whether the path is a file; devices, which cannot be read, count too and are reported later. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
  } catch {
    return false; // a circular link, or one to a place without access
  }
}

/** Whether an import is by a path, and not by the name of a package. */
export function isByPath(specifier: string): boolean {
  return /^(\.{0,2}\/|\.{1,2}$|file:)/.test(specifier);
}

/** Returns the file to which an import by a path refers; `undefined` when there is none. */
export function resolvePath(specifier: string, importer: string): string | undefined {
  const path = specifier.startsWith("file:") ? fileURLToPath(specifier.replace(/[?#].*$/s, "")) : specifier;
  const file = findFile(isAbsolute(path) ? path : join(dirname(importer), path));
  return file === undefined ? undefined : realPath(file);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Returns the file to which an import in `file` refers; `undefined` when there is none. */
export function resolveImport(specifier: string, file: string): string | undefined {
  if (isByPath(specifier)) return resolvePath(specifier, file);
  try {
    return createRequire(file).resolve(specifier);
  } catch {
    return undefined;
  }
}
