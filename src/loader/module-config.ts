/** The configuration of a process's modules: its sources, and its faults. */
import { type KnownNames, unknownKeys, variableClashes } from "../module/config/all.ts";
import type { ConfigSources } from "../module/config/sources.ts";
import { printable } from "../observe/printable.ts";
import { readPlaces } from "./config-files.ts";
import { configName, configNames } from "./config-names.ts";
import type { LoadConfig, Loaded } from "./load.ts";
import type { ModuleEntry } from "./scan.ts";

/** The sources that the command line names. */
export interface ConfigOrigin {
  /** The environment; `undefined` where it gives no values. */
  readonly env: ConfigSources["env"];
  /** Files and folders; a later one wins. */
  readonly paths: readonly string[];
}

/** @throws ConfigFileError when one of the paths cannot be read. */
export async function readSources({ env, paths }: ConfigOrigin): Promise<ConfigSources> {
  return { env, places: await readPlaces(paths) };
}

export function loadConfigOf(sources: ConfigSources, entries: readonly ModuleEntry[]): LoadConfig {
  return { sources, nameFor: configNames(entries) };
}

/**
 * Returns the configurations of all modules, and the names under which modules that could not be loaded may have one.
 */
export function knownConfigs(loaded: readonly Loaded[], missing: readonly ModuleEntry[] = []): KnownNames {
  const broken = loaded.filter(({ result }) => "broken" in result);
  return {
    configs: loaded.flatMap(({ result }) => result.configs),
    unknown: [...broken.map(({ entry }) => entry), ...missing].map(configName),
  };
}

export interface FaultOptions {
  /** Whether a value that is only missing is a fault. */
  readonly isComplete: boolean;
  /** Modules whose configuration is not known, because they are still being loaded. @default none */
  readonly missing?: readonly ModuleEntry[];
}

/** Returns all faults of the configuration, one sentence each, with the module in front. */
export function configFaults(
  loaded: readonly Loaded[],
  sources: ConfigSources,
  options: FaultOptions,
): readonly string[] {
  const known = knownConfigs(loaded, options.missing);
  const faults = [
    ...new Set(loaded.flatMap((one) => moduleFaults(one, options, loaded))),
    ...variableClashes(known.configs),
    ...unknownKeys(sources, known),
  ];
  return faults.map(printable);
}

/**
 * Returns the faults in the values of a module.
 *
 * @param among the modules that may have declared a configuration which this module imports: faults are reported under
 * the declaring module's name.
 */
export function moduleFaults(
  { entry, result }: Loaded,
  { isComplete }: Pick<FaultOptions, "isComplete">,
  among: readonly Loaded[] = [],
): readonly string[] {
  const faults = result.configs.flatMap(({ name, faults: own }) => {
    const owner = [{ entry }, ...among].find((one) => configName(one.entry) === name)?.entry ?? entry;
    const relevant = own.filter(({ isMissing }) => isComplete || !isMissing);
    return relevant.map(({ message }) => `${owner.name}: ${message}`);
  });
  return [...new Set(faults)];
}
