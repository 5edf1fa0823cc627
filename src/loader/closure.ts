/** The files a module consists of: its own and what it imports by relative paths. */
import { readFileSync, realpathSync } from "node:fs";
import { importsOf, resolveImport } from "../platform/module-host.ts";

export interface Closure {
  /** Source by real path, the module's own file first. Files that cannot be read or parsed count as empty. */
  readonly sources: ReadonlyMap<string, string>;
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

function relativeImports(source: string): readonly string[] {
  try {
    return importsOf(source).filter((specifier) => specifier.startsWith("."));
  } catch {
    return []; // does not parse: loading says so
  }
}

/** Reads a module's files. */
export function closureOf(file: string): Closure {
  const sources = new Map<string, string>();
  const visit = (path: string): void => {
    if (sources.has(path)) return;
    const source = textOf(path);
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
  const hash = Bun.hash([...sources].flat().join("\0")).toString(36);
  return { sources, hash };
}
