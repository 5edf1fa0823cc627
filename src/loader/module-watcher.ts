/** Reloads modules when their files change. A complete scan with hashes decides; events only say when to scan. */
import { isConflict } from "../module/conflicts.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import type { Log } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { printable } from "../observe/printable.ts";
import { closureOf } from "./closure.ts";
import { type LoadOptions, type LoadResult, loadModule } from "./load.ts";
import { type FoundModule, scanFolders } from "./scan.ts";
import { WatchedFolders } from "./watched-folders.ts";

/** Milliseconds without an event before the folders are scanned, because editors write in several steps. */
const SETTLE = 25;
/** Milliseconds after the first event within which they are scanned although events keep coming, such as those of a log file. */
const SETTLED_WITHIN = 500;
/** Milliseconds in which changes usually take effect; a module that takes longer to load does not delay `onLook`. */
const SYNCED_WITHIN = 250;
/** Milliseconds between checks of the folders themselves, because one that was deleted and created again sends no events. */
const LOOK_EVERY = 2_000;
/** Some editors, and `git checkout`, delete a file before they write it anew. */
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

export interface ModuleWatcherOptions extends LoadOptions {
  readonly log: Log;
  readonly target: ModuleTarget;
  /** Called whenever something in the folders may have changed. */
  readonly onLook?: (() => void) | undefined;
  /** Milliseconds for which a file must be gone before its module is removed. @default 250 */
  readonly goneAfter?: number | undefined;
  /** The modules that were loaded before watching began. */
  readonly loaded: readonly { readonly found: FoundModule; readonly result: LoadResult }[];
}

/** A version of a module that is being loaded. */
interface Version {
  readonly found: FoundModule;
  /** The hash of its files when loading began. */
  readonly hash: string;
}

interface Loaded extends Version {
  readonly result: LoadResult;
}

export class ModuleWatcher implements AsyncDisposable {
  readonly #folders: readonly string[];
  readonly #options: ModuleWatcherOptions;
  /** The hash of the last seen version of each module, good or broken, by its name. */
  readonly #hashes = new Map<string, string>();
  /** Modules that cannot run beside others: they are tried again when something has changed. */
  readonly #conflicting = new Set<string>();
  /** The time in milliseconds since which the file of a module is gone, by the module's name. */
  readonly #gone = new Map<string, number>();
  readonly #watched: WatchedFolders;
  #settling: ReturnType<typeof setTimeout> | undefined;
  /** The time of the first event that no scan has followed yet, in milliseconds; `undefined` when there is none. */
  #unsettled: number | undefined;
  readonly #looking: ReturnType<typeof setInterval>;
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(folders: readonly string[], options: ModuleWatcherOptions) {
    this.#folders = folders;
    this.#options = options;
    for (const { found, result } of options.loaded) {
      this.#hashes.set(found.name, result.hash);
      if ("module" in result && !options.target.modules.has(found.name)) this.#conflicting.add(found.name);
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

  /** Calls `onLook` only after running modules are replaced, because its work would take CPU from that. */
  async #tell(synced: Promise<void>): Promise<void> {
    await withinExpected(synced);
    if (!this.#closed) this.#options.onLook?.();
  }

  async #sync(): Promise<void> {
    if (this.#closed) return;
    const found = scanFolders(this.#folders);
    const closures = found.map((one) => ({ found: one, ...closureOf(one.file) }));
    if (this.#watched.also(closures.flatMap(({ folders }) => [...folders]))) this.#soon(SETTLE);
    const changed = closures.filter(({ found: { name }, hash }) => this.#hashes.get(name) !== hash);
    // A new module may be a renamed one. Then the removal does not wait.
    const isRenamed = changed.some(({ found: { name } }) => !this.#hashes.has(name));
    const haveLeft = await this.#removeMissing(new Set(found.map(({ name }) => name)), isRenamed);
    if (changed.length === 0 && !haveLeft) return;
    const again = closures.filter((one) => this.#conflicting.has(one.found.name) && !changed.includes(one));
    const loading = [...changed, ...again].map((one) => this.#load(one));
    await withinExpected(Promise.all(loading));
    const ready: Loaded[] = [];
    for (const one of loading) {
      const loaded = await Promise.race([one, Promise.resolve(undefined)]);
      if (loaded !== undefined) ready.push(loaded);
      else void one.then((late) => this.#inTurn(() => this.#putAll([late]))); // nobody waits for a module that hangs
    }
    await this.#putAll(ready);
  }

  /** @returns whether a module was removed. */
  async #removeMissing(found: ReadonlySet<string>, isRenamed: boolean): Promise<boolean> {
    const { goneAfter = GONE_AFTER } = this.#options;
    const now = performance.now();
    let haveLeft = false;
    for (const name of found) this.#gone.delete(name);
    for (const name of this.#hashes.keys()) {
      if (found.has(name)) continue;
      const since = this.#gone.get(name) ?? now;
      this.#gone.set(name, since);
      if (!isRenamed && now - since < goneAfter) {
        this.#soon(goneAfter);
        continue;
      }
      this.#gone.delete(name);
      this.#hashes.delete(name);
      this.#conflicting.delete(name);
      this.#options.log.info("Module removed", { module: name });
      await this.#options.target.remove(name);
      haveLeft = true;
    }
    return haveLeft;
  }

  async #load({ found, hash }: Version): Promise<Loaded> {
    this.#hashes.set(found.name, hash);
    return { found, hash, result: await loadModule(found, this.#options) };
  }

  /** Hands over loaded versions. One that another module is in the way of is tried again after the others, because a save may change both. */
  async #putAll(loaded: readonly Loaded[]): Promise<void> {
    for (let left = loaded; left.length > 0;) {
      const refused: (readonly [Loaded, unknown])[] = [];
      for (const one of left) {
        const why = await this.#put(one);
        if (why !== undefined) refused.push([one, why]);
      }
      if (refused.length === left.length) {
        for (const [{ found }] of refused) this.#conflicting.add(found.name);
        for (const [one, why] of refused) this.#refuse(one, why);
        return;
      }
      left = refused.map(([one]) => one);
    }
  }

  /**
   * Hands over a loaded version. When it is broken or refused, the old one keeps running.
   *
   * @returns the error when only another module is in its way; trying again may then help.
   */
  async #put(one: Loaded): Promise<unknown> {
    const { log, target } = this.#options;
    const { found, hash, result } = one;
    const { name } = found;
    if (this.#closed || this.#hashes.get(name) !== hash) {
      // The process stops, or there is a newer version by now.
      if ("module" in result) result.module.dispose();
      return undefined;
    }
    this.#conflicting.delete(name);
    if ("broken" in result) {
      target.modules.markBroken(name, { file: printable(found.file), message: result.broken });
      return undefined;
    }
    const known = target.modules.has(name);
    try {
      await (known ? target.replace(result.module) : target.add(result.module));
      log.info(known ? "Module reloaded" : "Module added", { module: name });
    } catch (error) {
      if (isConflict(error)) return error;
      this.#refuse(one, error);
    }
    return undefined;
  }

  #refuse({ found: { name, file }, result }: Loaded, error: unknown): void {
    if ("module" in result) result.module.dispose();
    if (this.#closed) return; // the process is stopping, so the module is not broken
    const message = error instanceof Error ? error.message : String(error);
    this.#options.target.modules.markBroken(name, { file: printable(file), message });
  }
}

/** Waits for work for as long as changes usually take. */
async function withinExpected(work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  using _timer = systemClock.setTimeout(resolve, SYNCED_WITHIN);
  await Promise.race([work, late]);
}
