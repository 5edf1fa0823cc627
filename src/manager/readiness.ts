/** Decides when `/readyz` passes. */
import type { RunningController } from "../controller/controller.ts";
import type { TransportStats } from "../kube/transport/transport-stats.ts";
import type { Told } from "../server/health-checks.ts";

export interface ReadinessInput {
  /** Whether every module found at start was started or is known to be broken. */
  readonly loaded: boolean;
  readonly stopping: boolean;
  readonly controllers: readonly Pick<RunningController, "name" | "state" | "hasSynced">[];
  readonly stats: Pick<TransportStats, "answers">;
  /** Why none of the modules runs; `undefined` when one does, or when there are none. */
  readonly noneRuns: string | undefined;
}

/**
 * Returns why the process is not ready; `undefined` when it is.
 *
 * Every loaded controller must have synced once. One that waits for a kind, or is refused one, does not delay the
 * others, once the server has responded at all; nor does a broken module while another one runs.
 */
export function notReady({ loaded, stopping, controllers, stats, noneRuns }: ReadinessInput): Told | undefined {
  if (stopping) return { cause: "stopping", text: "stopping" };
  if (!loaded) return { cause: "modules are being loaded", text: "modules are being loaded" };
  if (noneRuns !== undefined) return { cause: "no module runs", text: noneRuns };
  const answered = [...stats.answers.keys()].some((answer) => / \d+$/.test(answer));
  for (const { name, state, hasSynced } of controllers) {
    if (hasSynced) continue;
    if (answered && (state.kind === "waiting" || state.kind === "unavailable")) continue;
    const why = state.kind === "running" ? "starting" : (state.message ?? state.kind);
    return { cause: "a controller has not synced", text: `controller ${name} has not synced: ${why}` };
  }
  return undefined;
}
