/**
 * Starts the modules in the order of their names, but each after those whose plugins it requires, and without waiting for one
 * that loads slowly.
 */
import type { Loaded } from "../loader/load-all.ts";
import type { Manager } from "../manager/manager.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import type { Plugin } from "../module/plugin.ts";
import { moduleOrder } from "../module/plugin-order.ts";
import { printable } from "../observe/printable.ts";
import { sleep } from "../platform/clock.ts";
import { UserError } from "./usage-error.ts";

/**
 * Milliseconds in which modules are expected to load. Of two that cannot run together the first by name wins, so the
 * order must not depend on which one loads faster.
 */
const EXPECTED = 250;

export interface StartOptions {
  readonly manager: Manager;
  /** Throws at the first module that cannot run, instead of recording it as broken. */
  readonly strict: boolean;
}

/** Starts the modules; resolves when each runs or is known to be broken. @throws UserError with `strict`. */
export async function startModules(
  loading: readonly Promise<Loaded>[],
  options: StartOptions,
): Promise<readonly Loaded[]> {
  await Promise.race([Promise.all(loading), sleep(EXPECTED)]);
  const slow: Promise<void>[] = [];
  const ready: Loaded[] = [];
  for (const one of loading) {
    const loaded = await Promise.race([one, Promise.resolve(undefined)]);
    if (loaded === undefined) slow.push(one.then((late) => start(late, options)));
    else ready.push(loaded);
  }
  for (const loaded of moduleOrder(ready, pluginsOf)) await start(loaded, options);
  await Promise.all(slow);
  return Promise.all(loading);
}

function pluginsOf({ result }: Loaded): readonly Plugin[] {
  return "module" in result ? result.module.definitions.plugins : [];
}

async function start({ found, result }: Loaded, { manager, strict }: StartOptions): Promise<void> {
  const { name } = found;
  const file = printable(found.file);
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
    return error instanceof Error ? error.message : String(error);
  }
}
