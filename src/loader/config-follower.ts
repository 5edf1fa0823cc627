/** Follows the configuration of modules; while new values cannot be used, the previous ones stay in force. */
import { type KnownNames, unknownKeys } from "../module/config/all.ts";
import { type ConfigSources, isSame } from "../module/config/sources.ts";
import type { Log } from "../observe/log.ts";
import { watchedFoldersOf } from "./config-files.ts";
import { type ConfigOrigin, readSources } from "./module-config.ts";

export class ConfigFollower {
  readonly #origin: ConfigOrigin;
  readonly #log: Log;
  #sources: ConfigSources;
  /** Why the present files cannot be used. */
  #refused: string | undefined;
  /** The reason that was logged last. */
  #logged: string | undefined;

  constructor(origin: ConfigOrigin, { sources, log }: { readonly sources: ConfigSources; readonly log: Log }) {
    this.#origin = origin;
    this.#sources = sources;
    this.#log = log;
  }

  /** The sources with which modules are loaded: a new object only when something differs. */
  get sources(): ConfigSources {
    return this.#sources;
  }

  /** The folders whose changes may be changes of configuration. */
  get folders(): readonly string[] {
    return watchedFoldersOf(this.#origin.paths);
  }

  /** Whether the last read files cannot be used; another version of a module may make them usable. */
  get isRefused(): boolean {
    return this.#refused !== undefined;
  }

  /** Reads everything anew. @returns whether it should be read again soon, because an editor may be writing. */
  async read(known: KnownNames): Promise<boolean> {
    if (this.#origin.paths.length === 0) return false;
    const refused = await this.#take(known);
    const isNew = refused !== undefined && refused !== this.#refused;
    this.#refused = refused;
    if (refused === undefined) this.#logged = undefined;
    if (refused !== undefined && !isNew && this.#logged !== refused) {
      this.#logged = refused;
      this.#log.error("Cannot use the changed configuration of modules: the values before stay", { reason: refused });
    }
    return isNew;
  }

  /** @returns why it cannot be used. */
  async #take(known: KnownNames): Promise<string | undefined> {
    try {
      const sources = await readSources(this.#origin);
      const unknown = unknownKeys(sources, known);
      if (unknown.length > 0) return unknown.join("; ");
      if (!isSame(sources, this.#sources)) this.#sources = sources;
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
