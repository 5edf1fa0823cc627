/** Decides when `/readyz` passes. */
import type { ModuleRegistry } from "../module/module-registry.ts";
import type { HealthReport } from "../server/health-checks.ts";
import type { Process } from "./process.ts";

export interface ReadinessProcess extends Pick<Process, "development" | "stopping"> {
  readonly connection: {
    readonly stats: Pick<Process["connection"]["stats"], "answers">;
  };
}

export type ReadinessModules = Pick<ModuleRegistry, "controllers" | "noneRuns" | "neverRan">;

/**
 * The process is ready when every module that was found at the start has run once, so that a rollout does not go on
 * with a broken one, and every loaded controller has synced once. Once the server has responded at all, a controller
 * whose kind is missing or refused does not delay the others.
 */
export class Readiness {
  readonly #process: ReadinessProcess;
  readonly #modules: ReadinessModules;
  /** Whether every module of the start was started or is known to be broken. */
  #loaded = false;
  /**
   * Whether every module of the start has run at some moment; a broken module that comes later takes nothing out of
   * service.
   */
  #allRan: boolean;

  constructor(process: ReadinessProcess, modules: ReadinessModules) {
    this.#process = process;
    this.#modules = modules;
    this.#allRan = process.development; // modules that are being written may be broken at the start
  }

  /** Called when every module of the start was started or is known to be broken. */
  loaded(): void {
    this.#loaded = true;
    this.#neverRan();
  }

  /** Returns why the process is not ready; `undefined` when it is. */
  notReady(): HealthReport | undefined {
    const { connection, stopping } = this.#process;
    if (stopping.aborted) return { cause: "stopping", text: "stopping" };
    if (!this.#loaded) return { cause: "modules are being loaded", text: "modules are being loaded" };
    const noneRuns = this.#modules.noneRuns();
    if (noneRuns !== undefined) return { cause: "no module runs", text: noneRuns };
    const neverRan = this.#neverRan();
    if (neverRan !== undefined) return { cause: "a module has never run", text: neverRan };
    const answered = [...connection.stats.answers.keys()].some((answer) => / \d+$/.test(answer));
    for (const { name, state, hasSynced } of this.#modules.controllers) {
      if (hasSynced) continue;
      if (answered && (state.kind === "waiting" || state.kind === "unavailable")) continue;
      const why = state.kind === "running" ? "starting" : (state.message ?? state.kind);
      return { cause: "a controller has not synced", text: `controller ${name} has not synced: ${why}` };
    }
    return undefined;
  }

  /** Returns why a module of the start has never run; `undefined` once all have. */
  #neverRan(): string | undefined {
    if (this.#allRan) return undefined;
    const reason = this.#modules.neverRan();
    this.#allRan = this.#loaded && reason === undefined;
    return reason;
  }
}
