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
export function notReady(input: ReadinessInput): Told | undefined {
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
