/**
 * Loads modules from disk at run time, each version under addresses of its own.
 *
 * All modules share one realm, and loaded code stays in memory until the process ends, even that of a replaced version.
 * Resources that a version opened by the runtime's own functions are closed with it.
 */
import { readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { systemClock } from "../clock.ts";
import { type LoadedGraph, type LoadGraphOptions, loadParts } from "../module-host.ts";
import { runAs } from "./module-context.ts";
import { explained } from "./load-errors.ts";
import { endImport, importModule, knowFolder, loadOffered, registerModuleHooks } from "./module-hooks.ts";
import { ModuleResources } from "./module-resources.ts";
import { prepareFor } from "./module-source.ts";
import { followStacks, ownVersion } from "./module-stacks.ts";
import { importsOf } from "./scan-imports.ts";

export { offerModules } from "./module-hooks.ts";
export { resolveImport } from "./resolve-file.ts";
export { importsOf } from "./scan-imports.ts";

let versions = 0;

/** Resolves when the module that had the last turn has run up to its first `await`, or will not run. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Lets scripts of modules run one after the other, so that one module's changes of built-in objects are undone before
 * the next runs.
 */
function nextTurn(): { readonly begins: Promise<void>; readonly end: () => void } {
  const begins = lastTurn;
  const { promise, resolve: end } = Promise.withResolvers<void>();
  lastTurn = promise;
  return { begins, end };
}

/**
 * Loads a file and what it imports, fresh from disk.
 *
 * @throws the error of the module's top-level code, the errors of the parser and resolver, LoadTimeout.
 */
export async function loadGraph(file: string, options: LoadGraphOptions): Promise<LoadedGraph> {
  registerModuleHooks();
  followStacks();
  const path = realpathSync(file);
  const id = String(++versions);
  const resources = new ModuleResources(options.onError);
  const owned = ownVersion(id, resources);
  return loadParts(file, options, {
    graph: resources,
    path,
    load: () => load(path, { id, files: options.files ?? [path], resources, onEvaluated: options.onEvaluated }),
    run: (fn) => runAs(resources, fn),
    close: () => {
      owned[Symbol.dispose]();
      resources.close();
    },
  });
}

interface Version {
  readonly id: string;
  readonly files: readonly string[];
  readonly resources: ModuleResources;
  readonly onEvaluated: (() => void) | undefined;
}

async function load(path: string, { id, files, resources, onEvaluated }: Version): Promise<Record<string, unknown>> {
  knowFolder(dirname(path));
  await prepareFor(files);
  await loadOffered(packagesOf(files));
  const turn = nextTurn();
  await turn.begins;
  // A module that imports from another host may wait for it before it runs; the next module does not wait for that.
  using _late = systemClock.setTimeout(turn.end, MOST_WAITED);
  try {
    const onRun = (): void => {
      onEvaluated?.();
      turn.end();
    };
    return await runAs(resources, () => importModule({ id, path }, onRun));
  } catch (error) {
    throw explained(error, id);
  } finally {
    await endImport(id);
    turn.end();
  }
}

/** Milliseconds that a module waits for the previous one to run. */
const MOST_WAITED = 2_000;

/** Returns the packages that the files import, and those that compiled JSX imports. */
function packagesOf(files: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const file of files) {
    if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
    if (file.endsWith("x")) for (const name of JSX) names.add(name);
    try {
      for (const name of importsOf(readFileSync(file, "utf8"))) names.add(name);
    } catch {
      // Importing the package reports the problem.
    }
  }
  return names;
}

const JSX = ["hono/jsx", "hono/jsx/jsx-runtime", "hono/jsx/jsx-dev-runtime"];
