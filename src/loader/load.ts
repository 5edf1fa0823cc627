/** Loads a module: its file into a graph of its own, its exports into definitions. */
import { loadGraph } from "#runtime/module-host";
import { type BegunLoad, beginConfigLoad, type ModuleConfig } from "../module/config/config.ts";
import { type ConfigSources, NO_SOURCES } from "../module/config/sources.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { printable } from "../observe/printable.ts";
import { definitionsOf } from "../module/module-definitions.ts";
import type { Clock } from "../platform/clock.ts";
import { allLoaded, type LoadedGraph, type OfferedPackages } from "../platform/module-host.ts";
import { closureOf } from "./closure.ts";
import { configNames } from "./config-names.ts";
import { explain, placeOf, displayPath } from "./explain.ts";
import { unfitPackage } from "./package-versions.ts";
import { beginLoading } from "./shared-objects.ts";
import type { ModuleEntry } from "./scan.ts";

export interface LoadOptions {
  /** The packages inside the binary that modules import, by exact name. */
  readonly offered: OfferedPackages;
  /** Called with an error that a module's code threw outside of a call, or rejected without a handler. */
  readonly onError: (module: string, error: unknown) => void;
  /** The version of this binnacle, which packages may require. @default not compared */
  readonly version?: string | undefined;
  /** Milliseconds after which an attempt to load a module is given up. @default 10_000 */
  readonly timeout?: number | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** The sources of configuration values. @default none: configurations have their defaults */
  readonly config?: LoadConfig | undefined;
}

export interface LoadConfig {
  readonly sources: ConfigSources;
  /** Names a configuration that a module declares by calls in these files, innermost first. */
  readonly nameFor: (own: ModuleEntry) => (files: readonly string[]) => string;
}

/** The loaded module, or the reason why there is none. */
export type LoadResult = ({ readonly module: LoadedModule } | { readonly broken: string }) & {
  readonly hash: string;
  /** Every configuration the module declared, even if loading failed; check `faults`. */
  readonly configs: readonly ModuleConfig[];
};

/** The outcome of loading a module. */
export interface Loaded {
  readonly entry: ModuleEntry;
  readonly result: LoadResult;
}

/** Loads a module. It never throws: errors are returned as a message. */
export async function loadModule(entry: ModuleEntry, options: LoadOptions): Promise<LoadResult> {
  const { name } = entry;
  const file = printable(entry.file);
  if (file !== entry.file) {
    const broken = `its name '${printable(name)}' has characters that cannot be shown: rename it`;
    return { broken, hash: name, configs: [] };
  }
  const { sources, hash, unusable, origins: bundled } = closureOf(file);
  const origins = [...bundled, ...(entry.origins ?? [])];
  const origin = entry.origins?.[0] ?? file;
  if (unusable !== undefined)
    return { broken: `${displayPath(unusable.path, { file, sources })} ${unusable.why}`, hash, configs: [] };
  const { version, offered } = options;
  const unfit = version === undefined ? undefined : unfitPackage(sources, { version, offered });
  if (unfit !== undefined)
    return { broken: `${placeOf(unfit.specifier, { file, sources })}: ${unfit.message}`, hash, configs: [] };
  let graph: LoadedGraph | undefined;
  let config: BegunLoad | undefined;
  const onCreated = (created: object): void => {
    const { sources: from = NO_SOURCES, nameFor = configNames([entry]) } = options.config ?? {};
    config = beginConfigLoad(created, { sources: from, nameFor: nameFor(entry) });
  };
  const loading = beginLoading(sources);
  try {
    const files = [...sources.keys(), ...origins];
    const onError = (error: unknown): void => options.onError(name, error);
    graph = await loadGraph(file, { ...options, name, files, onError, onCreated, onEvaluated: loading.restore });
    loading.check();
    const definitions = definitionsOf(graph.exports);
    loading.end();
    config!.end();
    const { run, dispose: disposeGraph } = graph;
    const dispose = (): void => {
      disposeGraph();
      config![Symbol.dispose]();
    };
    return { module: { name, file: origin, definitions, invoke: run, dispose }, hash, configs: config!.configs };
  } catch (error) {
    const refused = loading.end();
    graph?.dispose();
    config?.end();
    config?.[Symbol.dispose]();
    const message = explain(error, { file: origin, sources, origins, offered: await allLoaded(options.offered) });
    // A change of shared objects is the likely cause of the module's own error.
    const broken = refused === undefined || message === refused ? message : `${refused}; it failed with: ${message}`;
    return { broken, hash, configs: config?.configs ?? [] };
  }
}
