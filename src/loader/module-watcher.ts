/** Reloads modules when their files change: a full scan with hashes is the truth, events only say when to look. */
import { type FSWatcher, statSync, watch } from "node:fs";
import type { LoadedModule } from "../module/loaded-module.ts";
import type { Log } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { printable } from "../observe/printable.ts";
import { closureOf } from "./closure.ts";
import { type LoadOptions, type LoadResult, loadModule } from "./load.ts";
import { type FoundModule, scanFolders } from "./scan.ts";

/** Milliseconds without an event before the folders are looked at: editors write in several steps. */
const SETTLE = 25;
/** Milliseconds in which changes are usually in force; a module that takes longer to load keeps nobody from looking. */
const SYNCED_WITHIN = 250;
/** Milliseconds between looks at the folders themselves: one that was deleted and made again sends no events. */
const LOOK_EVERY = 2_000;

/** Where modules go. */
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
  /** Called each time when something in the folders may have changed. */
  readonly onLook?: (() => void) | undefined;
  /** What was loaded before watching began. */
  readonly loaded: readonly { readonly found: FoundModule; readonly result: LoadResult }[];
}

export class ModuleWatcher implements AsyncDisposable {
  readonly #folders: readonly string[];
  readonly #options: ModuleWatcherOptions;
  /** By module name, of the version that was looked at last, good or broken. */
  readonly #hashes = new Map<string, string>();
  #watchers: FSWatcher[] = [];
  /** Identity of the watched folders. */
  #watched = "";
  #settling: ReturnType<typeof setTimeout> | undefined;
  readonly #looking: ReturnType<typeof setInterval>;
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(folders: readonly string[], options: ModuleWatcherOptions) {
    this.#folders = folders;
    this.#options = options;
    for (const { found, result } of options.loaded) this.#hashes.set(found.name, result.hash);
    this.#arm();
    this.#looking = setInterval(() => {
      if (this.#watched === identityOf(this.#folders)) return;
      this.#arm();
      this.#look();
    }, LOOK_EVERY);
    this.#look(); // what changed since the first scan
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    clearTimeout(this.#settling);
    for (const watcher of this.#watchers) watcher.close();
    await this.#work;
  }

  /** Watches the folders anew. */
  #arm(): void {
    const before = this.#watchers;
    this.#watched = identityOf(this.#folders);
    this.#watchers = this.#folders.flatMap((folder) => {
      try {
        const watcher = watch(folder, { recursive: true }, () => this.#soon());
        watcher.on("error", () => this.#soon());
        return [watcher];
      } catch {
        return []; // gone for now: the next look tries again
      }
    });
    for (const watcher of before) watcher.close();
  }

  #soon(): void {
    clearTimeout(this.#settling);
    if (!this.#closed) this.#settling = setTimeout(() => this.#look(), SETTLE);
  }

  #look(): void {
    this.#work = this.#work
      .then(() => this.#sync())
      .catch((error: unknown) => {
        this.#options.log.error("Cannot look at the controllers folder", { error });
      });
    void this.#tell(this.#work);
  }

  /** What runs is changed first: whoever looks too would take the processor from it. */
  async #tell(synced: Promise<void>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    using _timer = systemClock.setTimeout(resolve, SYNCED_WITHIN);
    await Promise.race([synced, late]);
    if (!this.#closed) this.#options.onLook?.();
  }

  async #sync(): Promise<void> {
    if (this.#closed) return;
    const found = scanFolders(this.#folders);
    const { target } = this.#options;
    for (const name of this.#hashes.keys()) {
      if (found.some((one) => one.name === name)) continue;
      this.#hashes.delete(name);
      this.#options.log.info("Module removed", { module: name });
      await target.remove(name);
    }
    for (const one of found) {
      const { hash } = closureOf(one.file);
      if (this.#hashes.get(one.name) !== hash) await this.#load(one);
    }
  }

  /** The new version is loaded beside the old one, which keeps running when the new one is broken. */
  async #load(found: FoundModule): Promise<void> {
    const { log, target } = this.#options;
    const { name } = found;
    const file = printable(found.file);
    const result = await loadModule(found, this.#options);
    this.#hashes.set(name, result.hash);
    if (this.#closed) return;
    if ("broken" in result) return target.modules.markBroken(name, { file, message: result.broken });
    const known = target.modules.has(name);
    try {
      await (known ? target.replace(result.module) : target.add(result.module));
      log.info(known ? "Module reloaded" : "Module added", { module: name });
    } catch (error) {
      result.module.dispose();
      if (this.#closed) return; // the process is stopping, and the module is as good as it was
      target.modules.markBroken(name, { file, message: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** Changes when a folder is another one than before. */
function identityOf(folders: readonly string[]): string {
  return folders.map((folder) => statSync(folder, { throwIfNoEntry: false })?.ino ?? "none").join(" ");
}
