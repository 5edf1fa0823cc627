/** The state of a controller, as `/readyz?verbose` and the metrics show it. */
import type { InformerLease } from "../cache/informer-registry.ts";
import type { BudgetState } from "./error-budget.ts";

/** Whether the controller runs, and if not, what it waits for. */
export type ControllerState =
  | { readonly kind: "syncing"; readonly message?: string | undefined }
  | { readonly kind: "running"; readonly message?: undefined }
  /** A kind that it needs does not exist; it continues by itself when the kind appears. */
  | { readonly kind: "waiting"; readonly message: string }
  /** A kind that it needs cannot be listed; it keeps trying. */
  | { readonly kind: "unavailable"; readonly message: string }
  /** Its runs fail: only one at a time begins, or only a trial now and then. */
  | { readonly kind: "slowed" | "suspended"; readonly message: string }
  | { readonly kind: "stopped"; readonly message?: undefined };

export interface StateInput {
  readonly leases: readonly InformerLease[];
  /** Whether its runs may begin. */
  readonly working: boolean;
  /** Why the controller should have synced by now and has not; `undefined` otherwise. */
  readonly late: string | undefined;
  readonly budget: BudgetState | undefined;
}

export const STOPPED: ControllerState = Object.freeze({ kind: "stopped" });

/** Returns the worst of what its informers, the deadline and its runs show. */
export function stateOf({ leases, working, late, budget }: StateInput): ControllerState {
  const state = ofInformers(leases, working);
  if (late !== undefined && state.kind === "syncing") return { kind: "unavailable", message: late };
  return state.kind === "running" && budget !== undefined && budget.kind !== "unlimited" ? budget : state;
}

function ofInformers(leases: readonly InformerLease[], working: boolean): ControllerState {
  let unavailable: ControllerState | undefined;
  for (const { informer, hasSynced } of leases) {
    const { state, resource } = informer;
    if (state.kind === "waiting") return { kind: "waiting", message: state.message };
    if (state.kind === "unavailable") unavailable = { kind: "unavailable", message: state.message };
    else if (!hasSynced) unavailable ??= { kind: "syncing", message: `${resource.kind} is being listed` };
  }
  if (unavailable !== undefined) return unavailable;
  return working ? RUNNING : SYNCING;
}

const RUNNING: ControllerState = Object.freeze({ kind: "running" });
const SYNCING: ControllerState = Object.freeze({ kind: "syncing" });
