/**
 * Starts the modules in the order of their names, but each after those whose plugins it requires, and without waiting
 * for one that loads slowly.
 */
import type { Loaded } from "../loader/load.ts";
import { configFaults } from "../loader/module-config.ts";
import type { ModuleEntry } from "../loader/scan.ts";
import type { Manager } from "../manager/manager.ts";
import type { ConfigSources } from "../module/config/sources.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import type { Plugin } from "../module/plugin.ts";
import { moduleOrder } from "../module/plugin-order.ts";
import { printable } from "../observe/printable.ts";
import { sleep } from "../platform/clock.ts";
import { messageOf } from "../platform/error-message.ts";
import { faultsMessage } from "./config-messages.ts";
import { UsageError, UserError } from "./usage-error.ts";

/**
 * Milliseconds in which modules are expected to load. When two modules cannot run together, the first by name wins, so
 * the order must not depend on loading times.
 */
const EXPECTED = 250;

export interface StartOptions {
  readonly manager: Manager;
  /** Throws at the first module that cannot run, instead of recording it as broken. */
  readonly strict: boolean;
  /** The sources of the modules' configuration. */
  readonly sources: ConfigSources;
  /** The modules, in the order in which they are loading. */
  readonly entries: readonly ModuleEntry[];
}

/**
 * Starts the modules; resolves when each module runs or is known to be broken.
 *
 * @throws UserError with `strict`; UsageError with all faults of the configuration, before any module starts except
 * beside modules that load slowly.
 */
export async function startModules(
  loading: readonly Promise<Loaded>[],
  options: StartOptions,
): Promise<readonly Loaded[]> {
  await Promise.race([Promise.all(loading), sleep(EXPECTED)]);
  const slow: Promise<void>[] = [];
  const ready: Loaded[] = [];
  const missing: ModuleEntry[] = [];
  for (const [index, one] of loading.entries()) {
    const loaded = await Promise.race([one, Promise.resolve(undefined)]);
    if (loaded !== undefined) {
      ready.push(loaded);
      continue;
    }
    missing.push(options.entries[index]!);
    const started = one.then((late) => {
      refuseFaults([late], { ...options, missing: options.entries });
      return start(late, options);
    });
    started.catch(() => {}); // this is awaited below, unless something before it fails
    slow.push(started);
  }
  refuseFaults(ready, { ...options, missing });
  for (const loaded of moduleOrder(ready, pluginsOf)) await start(loaded, options);
  await Promise.all(slow);
  const all = await Promise.all(loading);
  if (slow.length > 0) refuseFaults(all, { ...options, missing: [] });
  return all;
}

/** @param options.missing the modules whose configuration is not known yet. */
function refuseFaults(
  loaded: readonly Loaded[],
  { sources, missing }: Pick<StartOptions, "sources"> & { readonly missing: readonly ModuleEntry[] },
): void {
  const faults = configFaults(loaded, sources, { isComplete: true, missing });
  if (faults.length > 0) throw new UsageError(faultsMessage(faults));
}

function pluginsOf({ result }: Loaded): readonly Plugin[] {
  return "module" in result ? result.module.definitions.plugins : [];
}

async function start({ entry, result }: Loaded, { manager, strict }: StartOptions): Promise<void> {
  const { name } = entry;
  const file = printable(entry.file);
  const message = "broken" in result ? result.broken : await add(result.module, manager);
  if (message === undefined || manager.stopping) return;
  if (strict) throw new UserError(`Cannot load ${file}: ${message}`);
  manager.modules.markBroken(name, { file, message });
}

/** Starts a module. @returns why it does not run. */
async function add(module: LoadedModule, manager: Manager): Promise<string | undefined> {
  try {
    await manager.add(module);
    return undefined;
  } catch (error) {
    module.dispose();
    return messageOf(error);
  }
}
