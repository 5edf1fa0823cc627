/** What is shown of a module: in `/readyz?verbose`, metrics and the log. */
import type { RunningController } from "../controller/controller.ts";

/**
 * `loading` until every controller synced once; `broken`, `suspended`, `slowed`, `waiting` and `unavailable` as soon as one of
 * its parts is.
 */
export type ModuleState = "loading" | "running" | "waiting" | "unavailable" | "slowed" | "suspended" | "broken";

export interface ModuleStatus {
  readonly name: string;
  readonly file: string;
  readonly state: ModuleState;
  /** Why, for states other than `loading` and `running`; and what is stuck. */
  readonly message: string | undefined;
  /** Failures of its code outside of runs. */
  readonly errors: number;
}

export interface StatusInput {
  readonly name: string;
  readonly file: string;
  readonly controllers: readonly Pick<RunningController, "name" | "state" | "hasSynced" | "stuck">[];
  readonly errors: number;
  /** Why it, or its newest version, could not be loaded. */
  readonly broken: string | undefined;
  /** Why it, or its newest version, cannot be started yet. */
  readonly postponed: string | undefined;
  /** Why one of its runnables is not well. */
  readonly failure?: string | undefined;
}

export function statusOf({ name, file, controllers, errors, broken, postponed, failure }: StatusInput): ModuleStatus {
  const withState = (kind: string) => controllers.find(({ state }) => state.kind === kind);
  const unavailable = withState("unavailable");
  const waiting = withState("waiting");
  const limited = withState("suspended") ?? withState("slowed");
  const status = (state: ModuleState, message?: string): ModuleStatus => ({ name, file, state, message, errors });
  if (broken !== undefined) return status("broken", broken);
  if (postponed !== undefined) return status("unavailable", postponed);
  if (unavailable !== undefined)
    return status("unavailable", `${unavailable.name}: ${unavailable.state.message ?? "unavailable"}`);
  if (failure !== undefined) return status("unavailable", failure);
  if (waiting !== undefined) return status("waiting", `${waiting.name}: ${waiting.state.message ?? "waiting"}`);
  if (controllers.some(({ hasSynced }) => !hasSynced)) return status("loading");
  if (limited?.state.kind === "suspended" || limited?.state.kind === "slowed")
    return status(limited.state.kind, `${limited.name}: ${limited.state.message}`);
  return status("running", stuckMessage(controllers));
}

function stuckMessage(controllers: StatusInput["controllers"]): string | undefined {
  const stuck = controllers.flatMap((controller) => controller.stuck.map(({ key }) => `${controller.name} ${key}`));
  if (stuck.length === 0) return undefined;
  const shown = stuck.slice(0, 3).join(", ");
  return `stuck past their timeout: ${shown}${stuck.length > 3 ? ` and ${stuck.length - 3} more` : ""}`;
}
