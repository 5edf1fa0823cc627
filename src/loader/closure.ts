/** The files a module consists of: its own and what it imports by paths. */
import { readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { importsOf, resolveImport } from "../platform/module-host.ts";
import { originsOf } from "./source-map.ts";

/** Larger ones are not read: they are data that got here by mistake. */
const MOST_MEBIBYTES = 64;

export interface Closure {
  /** Source by real path, the module's own file first. Files that cannot be read or parsed count as empty. */
  readonly sources: ReadonlyMap<string, string>;
  /** What stack traces name in place of a file that a bundler has made: the files that it was made of. */
  readonly origins: readonly string[];
  /** The first of its files that is none, such as a device: nothing may read it. */
  readonly unusable: { readonly path: string; readonly why: string } | undefined;
  /** Changes with any of the files. */
  readonly hash: string;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** What a path is instead of a file of a module; `undefined` when it is one, or is not there. */
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

function relativeImports(source: string): readonly string[] {
  try {
    return importsOf(source).filter((specifier) => /^[./]/.test(specifier));
  } catch {
    return []; // does not parse: loading says so
  }
}

/** Reads a module's files. */
export function closureOf(file: string): Closure {
  const sources = new Map<string, string>();
  let unusable: Closure["unusable"];
  const visit = (path: string): void => {
    if (sources.has(path)) return;
    const why = whyUnusable(path);
    if (why !== undefined) unusable ??= { path, why };
    const source = why === undefined ? textOf(path) : "";
    sources.set(path, source);
    if (!/\.[cm]?[tj]sx?$/.test(path)) return;
    for (const specifier of relativeImports(source)) {
      const target = resolveImport(specifier, path);
      if (target !== undefined) visit(target);
    }
  };
  let start = file;
  try {
    start = realpathSync(file);
  } catch {
    // gone in between: an empty closure
  }
  visit(start);
  const hash = Bun.hash([...sources, [unusable?.why ?? ""]].flat().join("\0")).toString(36);
  const origins = [...sources].flatMap(([path, source]) => originsOf(path, source));
  return { sources, hash, unusable, origins };
}
