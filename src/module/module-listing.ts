/** Lists the modules of a process in `/readyz?verbose`, including broken ones. */
import type { HealthChecks } from "../server/health-checks.ts";
import type { ModuleStatus } from "./module-status.ts";

export interface ModuleListingOptions {
  readonly readyz: HealthChecks;
  /** Whether a module that is broken, waiting or unavailable fails the endpoint instead of only being listed. */
  readonly strict: boolean;
  readonly statuses: () => readonly ModuleStatus[];
}

export class ModuleListing {
  readonly #options: ModuleListingOptions;
  readonly #listed = new Map<string, Disposable>();

  constructor(options: ModuleListingOptions) {
    this.#options = options;
  }

  add(name: string): void {
    if (this.#listed.has(name)) return;
    const { readyz, strict, statuses } = this.#options;
    // A module that waited has no status while its plugins are set up, nor has one that is leaving.
    const status = (): Pick<ModuleStatus, "state" | "message"> =>
      statuses().find((one) => one.name === name) ?? { state: "loading", message: undefined };
    const listed = strict
      ? readyz.add(`module/${name}`, () => {
          const { state, message } = status();
          if (state === "loading" || state === "running" || state === "draining") return undefined;
          return { cause: state, text: `${state}: ${message ?? ""}` };
        })
      : readyz.note(`module/${name}`, () => {
          const { state, message } = status();
          if (message !== undefined) return { cause: state, text: `${state}: ${message}` };
          return state === "running" ? undefined : { cause: state, text: state };
        });
    this.#listed.set(name, listed);
  }

  remove(name: string): void {
    this.#listed.get(name)?.[Symbol.dispose]();
    this.#listed.delete(name);
  }
}
