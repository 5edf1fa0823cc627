/** When `/readyz` says yes. */
import type { RunningController } from "../controller/controller.ts";
import type { TransportStats } from "../kube/transport-stats.ts";

export interface ReadinessParts {
  /** Every module found at start was loaded and started, or is known to be broken. */
  readonly loaded: boolean;
  readonly stopping: boolean;
  readonly controllers: readonly Pick<RunningController, "name" | "state" | "hasSynced">[];
  readonly stats: Pick<TransportStats, "answers">;
  /** Why none of the modules runs; `undefined` when one does, or when there are none. */
  readonly noneRuns: string | undefined;
}

/**
 * Why the process is not ready, `undefined` when it is.
 *
 * Every loaded controller must have synced once. One that waits for a kind, or is refused one, does not hold the
 * others back, once the server has answered at all; a module that is broken does not either, while another one runs.
 */
export function notReady({ loaded, stopping, controllers, stats, noneRuns }: ReadinessParts): string | undefined {
  if (stopping) return "stopping";
  if (!loaded) return "modules are being loaded";
  if (noneRuns !== undefined) return noneRuns;
  const answered = [...stats.answers.keys()].some((answer) => / \d+$/.test(answer));
  for (const { name, state, hasSynced } of controllers) {
    if (hasSynced) continue;
    if (answered && (state.kind === "waiting" || state.kind === "unavailable")) continue;
    return `controller ${name} has not synced: ${state.kind === "running" ? "starting" : (("message" in state ? state.message : undefined) ?? state.kind)}`;
  }
  return undefined;
}
