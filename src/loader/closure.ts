/** Collects the files of a module: its own files and those that it imports by paths. */
import { readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fingerprint } from "#runtime/digest";
import { importsOf, resolveImport } from "#runtime/module-host";
import { originsOf } from "./source-map.ts";

/** The maximum size of a file in MiB; a larger file must be data that is here by mistake. */
const MOST_MEBIBYTES = 64;

export interface Closure {
  /** Sources by real path, the module's own file first. Files that cannot be read or parsed count as empty. */
  readonly sources: ReadonlyMap<string, string>;
  /** The paths that stack traces name instead of a bundled file: those of the files in the bundle. */
  readonly origins: readonly string[];
  /** The first of its files that must not be read, such as a device. */
  readonly unusable: { readonly path: string; readonly why: string } | undefined;
  /** A hash of the files; it depends on their folder only if the code refers to its own place. */
  readonly hash: string;
  /** The folders of the files, and of imported files that are missing. */
  readonly folders: ReadonlySet<string>;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Returns why a path cannot be a file of a module; `undefined` when it can, or does not exist. */
function whyUnusable(path: string): string | undefined {
  let stat: Stats | undefined;
  try {
    stat = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const isCircle = error instanceof Error && "code" in error && error.code === "ELOOP";
    return isCircle ? "is a link that leads in a circle: mend or remove it" : undefined;
  }
  if (stat === undefined) return undefined;
  if (stat.isFile()) {
    return stat.size > MOST_MEBIBYTES * 2 ** 20 ? `is larger than ${MOST_MEBIBYTES} MiB, and no module` : undefined;
  }
  if (stat.isDirectory()) return undefined;
  return `is ${stat.isFIFO() ? "a pipe" : stat.isSocket() ? "a socket" : "a device"}, and no file`;
}

/** The imports of sources that were read before: a watcher examines all modules whenever one has changed. */
const known = new Map<string, readonly string[]>();
const MOST_KNOWN = 1_000;

function relativeImports(source: string): readonly string[] {
  const id = fingerprint(source);
  const before = known.get(id);
  if (before !== undefined) return before;
  let imports: readonly string[] = [];
  try {
    imports = importsOf(source).filter((specifier) => /^[./]/.test(specifier));
  } catch {
    // loading reports that it does not parse
  }
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(id, imports);
  return imports;
}

/** Reads a module's files. */
export function closureOf(file: string): Closure {
  const sources = new Map<string, string>();
  const folders = new Set<string>();
  let unusable: Closure["unusable"];
  const visit = (path: string): void => {
    if (sources.has(path)) return;
    const why = whyUnusable(path);
    if (why !== undefined) unusable ??= { path, why };
    const source = why === undefined ? textOf(path) : "";
    sources.set(path, source);
    folders.add(dirname(path));
    if (!/\.[cm]?[tj]sx?$/.test(path)) return;
    for (const specifier of relativeImports(source)) {
      const target = resolveImport(specifier, path);
      if (target !== undefined) visit(target);
      else folders.add(dirname(resolve(dirname(path), specifier)));
    }
  };
  let start = file;
  try {
    start = realpathSync(file);
  } catch {
    // The file is gone meanwhile, so the closure is empty.
  }
  visit(start);
  const hash = hashOf(sources, { from: dirname(start), flaw: unusable?.why });
  const origins = [...sources].flatMap(([path, source]) => originsOf(path, source));
  return { sources, hash, unusable, origins, folders };
}

/** Matches references of code to its own place, which it may use later. */
const OWN_PLACE = /\bimport\s*\(|\bimport\.meta\b|\b__dirname\b|\b__filename\b|\brequire\s*\(/;

/**
 * Hashes relative paths, because the mount of a ConfigMap is another folder after each change. A module that refers
 * to its own place depends on the absolute paths.
 */
function hashOf(
  sources: ReadonlyMap<string, string>,
  { from, flaw = "" }: { readonly from: string; readonly flaw: string | undefined },
): string {
  const isPlaced = sources.values().some((source) => OWN_PLACE.test(source));
  const parts = [...sources].flatMap(([path, source]) => [isPlaced ? path : relative(from, path), source]);
  return fingerprint([...parts, flaw].join("\0"));
}
