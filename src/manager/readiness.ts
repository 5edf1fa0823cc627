/** Decides when `/readyz` passes. */
import type { Reachability } from "../kube/transport/reachability.ts";
import type { ModuleRegistry } from "../module/module-registry.ts";
import type { Clock } from "../platform/clock.ts";
import type { RunningController } from "../controller/controller.ts";
import type { TransportStats } from "../kube/transport/transport-stats.ts";
import type { Told } from "../server/health-checks.ts";

interface ReadinessInput {
  /** Whether every module found at start was started or is known to be broken. */
  readonly loaded: boolean;
  readonly stopping: boolean;
  readonly controllers: readonly Pick<RunningController, "name" | "state" | "hasSynced">[];
  readonly stats: Pick<TransportStats, "answers">;
  /** Why none of the modules runs; `undefined` when one does, or when there are none. */
  readonly noneRuns: string | undefined;
  /** Why a module that was found at the start has never run; `undefined` when all have, or once they had. */
  readonly neverRan: string | undefined;
  /** For how many milliseconds the server has been unreachable. */
  readonly silence: number;
}

/** Milliseconds for which the server may be unreachable: a restart of it is no reason to take a process out of service. */
const LONGEST_SILENCE = 30_000;

/**
 * Returns why the process is not ready; `undefined` when it is.
 *
 * Every module that was found at the start must have run once, so that a rollout does not go on with a broken one, and every
 * loaded controller must have synced once. One that waits for a kind, or is refused one, does not delay the others, once the server
 * has responded at all.
 */
function notReady(input: ReadinessInput): Told | undefined {
  const { loaded, stopping, controllers, stats, noneRuns, neverRan, silence } = input;
  if (stopping) return { cause: "stopping", text: "stopping" };
  if (!loaded) return { cause: "modules are being loaded", text: "modules are being loaded" };
  if (noneRuns !== undefined) return { cause: "no module runs", text: noneRuns };
  if (neverRan !== undefined) return { cause: "a module has never run", text: neverRan };
  if (silence > LONGEST_SILENCE) {
    const cause = "the API server does not answer";
    return { cause, text: `${cause}, and has not for ${Math.floor(silence / 1_000)}s` };
  }
  const answered = [...stats.answers.keys()].some((answer) => / \d+$/.test(answer));
  for (const { name, state, hasSynced } of controllers) {
    if (hasSynced) continue;
    if (answered && (state.kind === "waiting" || state.kind === "unavailable")) continue;
    const why = state.kind === "running" ? "starting" : (state.message ?? state.kind);
    return { cause: "a controller has not synced", text: `controller ${name} has not synced: ${why}` };
  }
  return undefined;
}

export interface ReadinessParts {
  readonly modules: Pick<ModuleRegistry, "controllers" | "noneRuns" | "neverRan">;
  readonly transport: { readonly stats: ReadinessInput["stats"]; readonly reachability: Reachability };
  readonly clock: Pick<Clock, "now">;
  readonly stopping: AbortSignal;
  /** Whether modules are being written, so that they may be broken at the start. */
  readonly development: boolean;
}

/** Remembers what the answer depends on besides the present. */
export class Readiness implements Disposable {
  readonly #parts: ReadinessParts;
  readonly #reachability: Disposable;
  #loaded = false;
  /** Whether every module has run at some moment; one that comes later and is broken takes nothing out of service. */
  #allRan: boolean;
  /** Since when the API server cannot be reached. */
  #silentSince: number | undefined;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
    this.#allRan = parts.development;
    this.#reachability = parts.transport.reachability.onChange((reachable) => {
      this.#silentSince = reachable ? undefined : parts.clock.now();
    });
  }

  /** Called when every module that was found at the start was started or is known to be broken. */
  loaded(): void {
    this.#loaded = true;
    this.#neverRan();
  }

  notReady(): Told | undefined {
    const { modules, transport, clock, stopping } = this.#parts;
    return notReady({
      loaded: this.#loaded,
      stopping: stopping.aborted,
      controllers: modules.controllers,
      stats: transport.stats,
      noneRuns: modules.noneRuns(),
      neverRan: this.#neverRan(),
      silence: this.#silentSince === undefined ? 0 : clock.now() - this.#silentSince,
    });
  }

  [Symbol.dispose](): void {
    this.#reachability[Symbol.dispose]();
  }

  #neverRan(): string | undefined {
    if (this.#allRan) return undefined;
    const reason = this.#parts.modules.neverRan();
    this.#allRan = this.#loaded && reason === undefined;
    return reason;
  }
}
