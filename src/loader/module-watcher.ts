/** Reloads modules when their files or configuration change. Events say when to scan; a complete scan decides. */
import type { KnownNames } from "../module/config/all.ts";
import { type ConfigSources, printOf } from "../module/config/sources.ts";
import { isConflict } from "../module/conflicts.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import type { Log } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { printable } from "../observe/printable.ts";
import { type Closure, closureOf } from "./closure.ts";
import type { ConfigFollower } from "./config-follower.ts";
import { type Loaded, type LoadOptions, type LoadResult, loadModule } from "./load.ts";
import { knownConfigs, loadConfigOf, moduleFaults } from "./module-config.ts";
import { type ModuleEntry, scanFolders } from "./scan.ts";
import { WatchedFolders } from "./watched-folders.ts";

/** Milliseconds without an event before the folders are scanned, because editors write in several steps. */
const SETTLE = 25;
/** Milliseconds after which a scan begins although events keep coming, such as those of a log file. */
const SETTLED_WITHIN = 500;
/** Milliseconds in which changes usually take effect; a module that takes longer to load does not delay `onLook`. */
const SYNCED_WITHIN = 250;
/** Milliseconds between checks of the folders, because a folder that was deleted and made again sends no events. */
const LOOK_EVERY = 2_000;
/** Milliseconds for which a file must be gone: some editors delete a file before they write it anew. */
const GONE_AFTER = 250;

/** Receives the modules. */
export interface ModuleTarget {
  add(module: LoadedModule): Promise<void>;
  replace(module: LoadedModule): Promise<void>;
  remove(name: string): Promise<void>;
  readonly modules: {
    has(name: string): boolean;
    markBroken(name: string, broken: { readonly file: string; readonly message: string }): void;
  };
}

export interface ModuleWatcherOptions extends Omit<LoadOptions, "config"> {
  readonly log: Log;
  readonly target: ModuleTarget;
  /** The configuration of the modules. @default nothing is followed */
  readonly config?: ConfigFollower | undefined;
  /** Called whenever something in the folders may have changed. */
  readonly onLook?: (() => void) | undefined;
  /** Milliseconds for which a file must be gone before its module is removed. @default 250 */
  readonly goneAfter?: number | undefined;
  /** The modules that were loaded before watching began. */
  readonly loaded: readonly Loaded[];
}

/** A version of a module that has been loaded, or is being loaded. */
interface Version {
  readonly entry: ModuleEntry;
  /** The hash of its files when loading began. */
  readonly hash: string;
  /** The sources of its configuration values; `undefined` where none is followed. */
  readonly sources: ConfigSources | undefined;
  /** Whether only the configuration differs from the previous version, and the files do not. */
  readonly isReconfigured: boolean;
  /** The result of loading; `undefined` until then. */
  result: LoadResult | undefined;
}

type LoadedVersion = Version & Loaded;

/** A module and its files as they are now. */
type ModuleFiles = Pick<Closure, "hash" | "folders"> & { readonly entry: ModuleEntry };

export class ModuleWatcher implements AsyncDisposable {
  readonly #folders: readonly string[];
  readonly #options: ModuleWatcherOptions;
  /** The last seen version of each module, good or broken, by its name. */
  readonly #versions = new Map<string, Version>();
  /** Modules that cannot run beside others: they are tried again when something has changed. */
  readonly #conflicting = new Set<string>();
  /** The time in milliseconds since which the file of a module is gone, by the module's name. */
  readonly #gone = new Map<string, number>();
  readonly #watched: WatchedFolders;
  #settling: ReturnType<typeof setTimeout> | undefined;
  /** The time of the first event after the last scan, in milliseconds; `undefined` when there is none. */
  #unsettled: number | undefined;
  readonly #looking: ReturnType<typeof setInterval>;
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  /** @param folders with the files of modules; without any, modules are reloaded for their configuration alone. */
  constructor(folders: readonly string[], options: ModuleWatcherOptions) {
    this.#folders = folders;
    this.#options = options;
    for (const { entry, result } of options.loaded) {
      const { hash } = result;
      const sources = options.config?.sources;
      this.#versions.set(entry.name, { entry, hash, sources, isReconfigured: false, result });
      if ("module" in result && !options.target.modules.has(entry.name)) this.#conflicting.add(entry.name);
    }
    this.#watched = new WatchedFolders(folders, () => this.#onEvent());
    this.#looking = setInterval(() => {
      if (this.#watched.renew()) this.#look();
    }, LOOK_EVERY);
    this.#look(); // finds what changed since the first scan
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    clearTimeout(this.#settling);
    this.#watched[Symbol.dispose]();
    await this.#work;
  }

  #onEvent(): void {
    const now = performance.now();
    this.#unsettled ??= now;
    this.#soon(Math.max(0, Math.min(SETTLE, this.#unsettled + SETTLED_WITHIN - now)));
  }

  #soon(ms: number): void {
    clearTimeout(this.#settling);
    if (!this.#closed) this.#settling = setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    this.#unsettled = undefined;
    void this.#tell(this.#inTurn(() => this.#sync()));
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(step).catch((error: unknown) => {
      this.#options.log.error("Cannot read the controllers folder", { error });
    });
    return this.#work;
  }

  /** Calls `onLook` only after running modules are replaced, because its work would take CPU time from that. */
  async #tell(synced: Promise<void>): Promise<void> {
    await withinExpected(synced);
    if (!this.#closed) this.#options.onLook?.();
  }

  async #sync(): Promise<void> {
    if (this.#closed) return;
    const { config } = this.#options;
    if ((await config?.read(this.#knownNames())) === true) this.#soon(GONE_AFTER);
    const present = this.#folders.length === 0 ? this.#unwatched() : scanFolders(this.#folders).map(filesOf);
    const outside = [...present.flatMap(({ folders }) => [...folders]), ...(config?.folders ?? [])];
    if (this.#watched.also(outside)) this.#soon(SETTLE);
    const changed = present.filter((one) => this.#isChanged(one));
    // A new module may be a renamed one, whose removal must not wait.
    const isRenamed = changed.some(({ entry: { name } }) => !this.#versions.has(name));
    const haveLeft = await this.#removeMissing(new Set(present.map(({ entry: { name } }) => name)), isRenamed);
    if (changed.length === 0 && !haveLeft) return;
    const again = present.filter((one) => this.#conflicting.has(one.entry.name) && !changed.includes(one));
    const entries = present.map((one) => one.entry);
    const loading = [...changed, ...again].map((one) => this.#load(one, entries));
    await withinExpected(Promise.all(loading));
    const ready: LoadedVersion[] = [];
    for (const one of loading) {
      const loaded = await Promise.race([one, Promise.resolve(undefined)]);
      if (loaded !== undefined) ready.push(loaded);
      else void one.then((late) => this.#inTurn(() => this.#putAll([late]))); // nobody waits for a module that hangs
    }
    await this.#putAll(ready);
    // The configuration may be meant for the version that has just been loaded.
    if (config?.isRefused === true) this.#soon(SETTLE);
  }

  #isChanged({ entry: { name }, hash }: ModuleFiles): boolean {
    const before = this.#versions.get(name);
    return before === undefined || before.hash !== hash || this.#isReconfigured(before);
  }

  /** Whether its configuration would have other values now. */
  #isReconfigured({ sources: before, result }: Version): boolean {
    const sources = this.#options.config?.sources;
    if (sources === undefined || before === undefined || sources === before) return false;
    if (result === undefined) return true; // it is being loaded with the previous values
    const names = new Set(result.configs.map(({ name }) => name));
    return printOf(sources, names) !== printOf(before, names);
  }

  /** The modules of the start, when nobody asked to watch their files. */
  #unwatched(): readonly ModuleFiles[] {
    return [...this.#versions.values()].map(({ entry, hash }) => ({ entry, hash, folders: new Set() }));
  }

  #knownNames(): KnownNames {
    const all = [...this.#versions.values()];
    const loaded = all.filter((one): one is LoadedVersion => one.result !== undefined);
    return knownConfigs(
      loaded,
      all.filter((one) => one.result === undefined).map(({ entry }) => entry),
    );
  }

  /** @returns whether a module was removed. */
  async #removeMissing(names: ReadonlySet<string>, isRenamed: boolean): Promise<boolean> {
    const { goneAfter = GONE_AFTER } = this.#options;
    const now = performance.now();
    let haveLeft = false;
    for (const name of names) this.#gone.delete(name);
    for (const name of this.#versions.keys()) {
      if (names.has(name)) continue;
      const since = this.#gone.get(name) ?? now;
      this.#gone.set(name, since);
      if (!isRenamed && now - since < goneAfter) {
        this.#soon(goneAfter);
        continue;
      }
      this.#gone.delete(name);
      this.#versions.delete(name);
      this.#conflicting.delete(name);
      this.#options.log.info("Module removed", { module: name });
      await this.#options.target.remove(name);
      haveLeft = true;
    }
    return haveLeft;
  }

  async #load({ entry, hash }: ModuleFiles, all: readonly ModuleEntry[]): Promise<LoadedVersion> {
    const sources = this.#options.config?.sources;
    const before = this.#versions.get(entry.name);
    const isReconfigured = before !== undefined && before.hash === hash && this.#isReconfigured(before);
    const version: Version = { entry, hash, sources, isReconfigured, result: undefined };
    this.#versions.set(entry.name, version);
    const config = sources && loadConfigOf(sources, all);
    const isOther = this.#folders.length === 0 && closureOf(entry.file).hash !== hash;
    const result = isOther
      ? { broken: OTHER_FILES, hash, configs: before?.result?.configs ?? [] }
      : checked(entry, await loadModule(entry, { ...this.#options, config }));
    return Object.assign(version, { result });
  }

  /** Passes on loaded versions. A version that conflicts is tried again after the others: one save may change both. */
  async #putAll(loaded: readonly LoadedVersion[]): Promise<void> {
    for (let left = loaded; left.length > 0;) {
      const refused: (readonly [LoadedVersion, unknown])[] = [];
      for (const one of left) {
        const why = await this.#put(one);
        if (why !== undefined) refused.push([one, why]);
      }
      if (refused.length === left.length) {
        for (const [{ entry }] of refused) this.#conflicting.add(entry.name);
        for (const [one, why] of refused) this.#refuse(one, why);
        return;
      }
      left = refused.map(([one]) => one);
    }
  }

  /**
   * Passes on a loaded version. If it is broken or refused, the old one keeps running.
   *
   * @returns the error if only another module is in its way; trying again may then help.
   */
  async #put(one: LoadedVersion): Promise<unknown> {
    const { log, target } = this.#options;
    const { entry, result } = one;
    const { name } = entry;
    if (this.#closed || this.#versions.get(name) !== one) {
      // The process stops, or a newer version exists by now.
      if ("module" in result) result.module.dispose();
      return undefined;
    }
    this.#conflicting.delete(name);
    if ("broken" in result) {
      target.modules.markBroken(name, { file: printable(entry.file), message: result.broken });
      return undefined;
    }
    const known = target.modules.has(name);
    try {
      await (known ? target.replace(result.module) : target.add(result.module));
      const why = one.isReconfigured ? { reason: "its configuration has changed" } : {};
      log.info(known ? "Module reloaded" : "Module added", { module: name, ...why });
    } catch (error) {
      if (isConflict(error)) return error;
      this.#refuse(one, error);
    }
    return undefined;
  }

  #refuse({ entry: { name, file }, result }: LoadedVersion, error: unknown): void {
    if ("module" in result) result.module.dispose();
    if (this.#closed) return; // the process is stopping, so the module is not broken
    const message = error instanceof Error ? error.message : String(error);
    this.#options.target.modules.markBroken(name, { file: printable(file), message });
  }
}

/** The reason why a module is not loaded again for its configuration. */
const OTHER_FILES =
  "its configuration has changed, and so have its files since the start, which nobody watches: restart the process, or run it with --watch";

function filesOf(entry: ModuleEntry): ModuleFiles {
  return { entry, ...closureOf(entry.file) };
}

/** A version whose configuration has faults counts as one that cannot be loaded. */
function checked(entry: ModuleEntry, result: LoadResult): LoadResult {
  const faults = moduleFaults({ entry, result }, { isComplete: true });
  if (faults.length === 0) return result;
  if ("module" in result) result.module.dispose();
  const broken = `its configuration has ${faults.length === 1 ? "a fault" : "faults"}: ${faults.join("; ")}`;
  return { broken, hash: result.hash, configs: result.configs };
}

/** Waits for work for as long as changes usually take. */
async function withinExpected(work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  using _timer = systemClock.setTimeout(resolve, SYNCED_WITHIN);
  await Promise.race([work, late]);
}
