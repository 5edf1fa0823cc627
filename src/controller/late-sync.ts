/** Marks a controller whose caches take too long to sync; they keep trying. */
import { parseDuration } from "../resource/duration.ts";
import type { Resource } from "../resource/handle.ts";
import type { ControllerScope } from "./controller-scope.ts";

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
  /** Names what is not listed yet; `undefined` before the deadline, and once everything is listed. */
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
