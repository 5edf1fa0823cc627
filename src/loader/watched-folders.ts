/** The folders whose changes may be changes of modules: those of the modules, and those of files that they import. */
import { type FSWatcher, realpathSync, statSync, watch } from "node:fs";
import { sep } from "node:path";

interface Watched {
  readonly watcher: FSWatcher | undefined;
  /**
   * The inode of the folder, which distinguishes a folder that was deleted and made again; `undefined` when there is no
   * folder.
   */
  readonly identity: string | undefined;
}

export class WatchedFolders implements Disposable {
  readonly #roots: readonly string[];
  readonly #onEvent: () => void;
  readonly #watched = new Map<string, Watched>();
  #outside: ReadonlySet<string> = new Set();

  /** @param roots the folders that are watched with everything in them. */
  constructor(roots: readonly string[], onEvent: () => void) {
    this.#roots = roots;
    this.#onEvent = onEvent;
    this.renew();
  }

  /**
   * Watches these folders, without their subfolders, and besides them only the roots.
   *
   * @returns whether a folder is newly watched: it may have changed before.
   */
  also(folders: readonly string[]): boolean {
    const inside = this.#roots.flatMap((root) => realPath(root) ?? []);
    const isInside = (folder: string): boolean =>
      inside.some((root) => folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep));
    this.#outside = new Set(folders.filter((folder) => !isInside(folder)));
    return this.renew();
  }

  /**
   * Watches folders again that were replaced, and those that could not be watched before, for example because the
   * system had no watches left.
   *
   * @returns whether there were any.
   */
  renew(): boolean {
    let isChanged = false;
    for (const [folder, { watcher }] of this.#watched) {
      if (this.#roots.includes(folder) || this.#outside.has(folder)) continue;
      watcher?.close();
      this.#watched.delete(folder);
    }
    for (const folder of [...this.#roots, ...this.#outside]) {
      const before = this.#watched.get(folder);
      const identity = identityOf(folder);
      const isWatched = before?.watcher !== undefined || identity === undefined;
      if (before !== undefined && before.identity === identity && isWatched) continue;
      isChanged = true;
      this.#watched.set(folder, { watcher: this.#watch(folder), identity });
      before?.watcher?.close();
    }
    return isChanged;
  }

  [Symbol.dispose](): void {
    for (const { watcher } of this.#watched.values()) watcher?.close();
    this.#watched.clear();
  }

  #watch(folder: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, { recursive: this.#roots.includes(folder) }, () => this.#onEvent());
      watcher.on("error", () => this.#onEvent());
      return watcher;
    } catch {
      return undefined; // gone for now; when it is back, it has another identity
    }
  }
}

function identityOf(folder: string): string | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.ino.toString();
  } catch {
    return undefined;
  }
}

function realPath(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}
