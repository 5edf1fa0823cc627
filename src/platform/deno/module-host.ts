/** Loads modules from disk at run time. */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { systemClock } from "../clock.ts";
import { knowModule } from "../error-owner.ts";
import { loopMarks, markText } from "../loop-marks.ts";
import { type LoadedGraph, type LoadGraphOptions, LoadTimeout, type OfferedPackages } from "../module-host.ts";
import { removeProcessListeners } from "../process-listeners.ts";
import { runAs } from "./module-context.ts";

/** The packages are those of the process's import map. */
export function offerModules(_packages: OfferedPackages): void {}

/**
 * Loads a file and what it imports.
 *
 * @throws what the module's top-level code threw, the errors of the resolver, LoadTimeout.
 */
export async function loadGraph(file: string, options: LoadGraphOptions): Promise<LoadedGraph> {
  const { name = file, onError, timeout = 10_000, clock = systemClock } = options;
  const path = realpathSync(file);
  const module = {};
  const mark = loopMarks.take(markText({ module: name }));
  const loading = loopMarks.take(markText({ module: name, loading: true }));
  const known = knowModule(module, { files: options.files ?? [path], onError, mark });
  let isDisposed = false;
  const dispose = (): void => {
    if (isDisposed) return;
    isDisposed = true;
    known[Symbol.dispose]();
    removeProcessListeners(module);
    loopMarks.release(mark);
  };
  const importing = runAs(module, () => import(pathToFileURL(path).href) as Promise<Record<string, unknown>>);
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = clock.setTimeout(() => reject(new LoadTimeout(timeout)), timeout);
  try {
    const exports = await Promise.race([importing, late]);
    const run = <T>(fn: () => T): T => {
      const before = loopMarks.enterModule(mark);
      try {
        return runAs(module, fn);
      } finally {
        loopMarks.leaveModule(before);
      }
    };
    return { exports, run, dispose };
  } catch (error) {
    importing.catch(() => {});
    dispose();
    throw error;
  } finally {
    loopMarks.release(loading);
  }
}

const IMPORT =
  /\b(?:import|export)\s+(?:[^"';]*?\bfrom\s*)?["']([^"'\n]+)["']|\b(?:import|require)\s*\(\s*["']([^"'\n]+)["']/g;

/** Returns the relative imports of a source, and the packages that it names. */
export function importsOf(source: string): readonly string[] {
  return [...source.matchAll(IMPORT)].map(([, declared, called]) => (declared ?? called)!);
}

/** Returns the file to which an import in `file` refers; `undefined` when there is none. */
export function resolveImport(specifier: string, file: string): string | undefined {
  try {
    const path = createRequire(file).resolve(specifier);
    readFileSync(path);
    return path;
  } catch {
    return undefined;
  }
}
