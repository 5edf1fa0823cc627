/** The state of a controller, as `/readyz?verbose` and the metrics show it. */
import type { InformerLease } from "../cache/informer-registry.ts";
import { parseDuration } from "../resource/duration.ts";
import type { Resource } from "../resource/handle.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { BudgetState } from "./error-budget.ts";

/** Whether the controller runs, and if not, the reason why it waits. */
export type ControllerState =
  | { readonly kind: "syncing"; readonly message?: string | undefined }
  | { readonly kind: "running"; readonly message?: undefined }
  /** A kind that it needs does not exist; it continues by itself when the kind appears. */
  | { readonly kind: "waiting"; readonly message: string }
  /** A kind that it needs cannot be listed; it keeps trying. */
  | { readonly kind: "unavailable"; readonly message: string }
  /** The controller's runs fail: only one at a time begins, or only a trial now and then. */
  | { readonly kind: "slowed" | "suspended"; readonly message: string }
  | { readonly kind: "stopped"; readonly message?: undefined };

export interface StateInput {
  readonly leases: readonly InformerLease[];
  /** Whether its runs may begin. */
  readonly working: boolean;
  /** The reason why the controller has not synced although it should have; `undefined` otherwise. */
  readonly late: string | undefined;
  readonly budget: BudgetState | undefined;
}

export const STOPPED: ControllerState = Object.freeze({ kind: "stopped" });

/** Returns the worst state of its informers, the deadline and its runs. */
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

const DEFAULT_PATIENCE = "2m";

interface Lease {
  readonly informer: { readonly resource: Resource };
}

export interface LateSyncOptions {
  /** Returns the leases whose kinds have not been listed. */
  readonly missing: () => readonly Lease[];
  readonly onLate: () => void;
}

export class LateSync implements Disposable {
  readonly #timer: Disposable;
  /** The names of unlisted kinds; `undefined` before the deadline, and once everything is listed. */
  message: string | undefined;

  constructor({ controller, runtime, log }: ControllerScope, { missing, onLate }: LateSyncOptions) {
    const ms = parseDuration(controller.syncTimeout ?? DEFAULT_PATIENCE, "syncTimeout");
    this.#timer = runtime.clock.setTimeout(() => {
      const leases = missing();
      if (leases.length === 0) return;
      const kinds = leases.map(({ informer }) => informer.resource.kind).join(", ");
      this.message = `not listed within ${ms / 1_000} s: ${kinds}`;
      log.warn("Caches have not synced in time", { reason: this.message });
      onLate();
    }, ms);
  }

  /** Called when everything is listed. */
  end(): void {
    this.message = undefined;
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}
