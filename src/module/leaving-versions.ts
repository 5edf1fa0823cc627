/** Versions of modules that others have replaced, until they have ended. */
import type { Log } from "../observe/log.ts";
import type { GracePeriod } from "./grace-period.ts";
import type { ModuleVersion } from "./module-version.ts";

export class LeavingVersions {
  readonly #log: Pick<Log, "error">;
  /** The ends of all leaving versions, by module. */
  readonly #ends = new Map<string, Promise<void>>();

  constructor(log: Pick<Log, "error">) {
    this.#log = log;
  }

  /** Ends a version while another one works, and disposes of its code. Never rejects. */
  add(version: ModuleVersion, grace: GracePeriod): Promise<void> {
    const { module } = version;
    const { name } = module;
    const end = Promise.all([version.end(grace), this.#ends.get(name)])
      .catch((error: unknown) => this.#log.error("Cannot end a version", { module: name, error }))
      .then(() => {
        if (this.#ends.get(name) === end) this.#ends.delete(name);
        module.dispose();
      });
    this.#ends.set(name, end);
    return end;
  }

  /** Resolves when no version of the module is leaving. */
  async ended(name: string): Promise<void> {
    for (let end = this.#ends.get(name); end !== undefined; end = this.#ends.get(name)) await end;
  }

  async allEnded(): Promise<void> {
    while (this.#ends.size > 0) await Promise.all(this.#ends.values());
  }
}
