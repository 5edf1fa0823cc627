/** Decides when `/readyz` passes. */
import type { ModuleRegistry } from "../module/module-registry.ts";
import type { HealthReport } from "../server/health-checks.ts";
import type { Process } from "./process.ts";

/**
 * Milliseconds for which the server may be unreachable: a restart of the server is no reason to take a process out of
 * service.
 */
const LONGEST_SILENCE = 30_000;

export interface ReadinessProcess extends Pick<Process, "connectionClock" | "development" | "stopping"> {
  readonly connection: {
    readonly reachability: Process["connection"]["reachability"];
    readonly stats: Pick<Process["connection"]["stats"], "answers">;
  };
}

export type ReadinessModules = Pick<ModuleRegistry, "controllers" | "noneRuns" | "neverRan">;

/**
 * The process is ready when every module that was found at the start has run once, so that a rollout does not go on
 * with a broken one, and every loaded controller has synced once. Once the server has responded at all, a controller
 * whose kind is missing or refused does not delay the others.
 */
export class Readiness implements Disposable {
  readonly #process: ReadinessProcess;
  readonly #modules: ReadinessModules;
  readonly #reachability: Disposable;
  /** Whether every module of the start was started or is known to be broken. */
  #loaded = false;
  /**
   * Whether every module of the start has run at some moment; a broken module that comes later takes nothing out of
   * service.
   */
  #allRan: boolean;
  /** Since when the API server cannot be reached. */
  #silentSince: number | undefined;

  constructor(process: ReadinessProcess, modules: ReadinessModules) {
    this.#process = process;
    this.#modules = modules;
    this.#allRan = process.development; // modules that are being written may be broken at the start
    this.#reachability = process.connection.reachability.onChange((reachable) => {
      this.#silentSince = reachable ? undefined : process.connectionClock.now();
    });
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
    const silence = this.#silence;
    if (silence > LONGEST_SILENCE) {
      const cause = "the API server does not answer";
      return { cause, text: `${cause}, and has not for ${Math.floor(silence / 1_000)}s` };
    }
    const answered = [...connection.stats.answers.keys()].some((answer) => / \d+$/.test(answer));
    for (const { name, state, hasSynced } of this.#modules.controllers) {
      if (hasSynced) continue;
      if (answered && (state.kind === "waiting" || state.kind === "unavailable")) continue;
      const why = state.kind === "running" ? "starting" : (state.message ?? state.kind);
      return { cause: "a controller has not synced", text: `controller ${name} has not synced: ${why}` };
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#reachability[Symbol.dispose]();
  }

  /** For how many milliseconds the API server has been unreachable. */
  get #silence(): number {
    return this.#silentSince === undefined ? 0 : this.#process.connectionClock.now() - this.#silentSince;
  }

  /** Returns why a module of the start has never run; `undefined` once all have. */
  #neverRan(): string | undefined {
    if (this.#allRan) return undefined;
    const reason = this.#modules.neverRan();
    this.#allRan = this.#loaded && reason === undefined;
    return reason;
  }
}
