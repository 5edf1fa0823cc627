/** Marks a controller whose caches take too long to sync; they keep trying. */
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import { type Duration, parseDuration } from "../resource/duration.ts";
import type { Resource } from "../resource/handle.ts";

const DEFAULT_PATIENCE = "2m";

interface Lease {
  readonly informer: { readonly resource: Resource };
}

export class LateSync implements Disposable {
  readonly #timer: Disposable;
  /** Names what is not listed yet; `undefined` before the deadline, and once everything is listed. */
  message: string | undefined;

  constructor(
    patience: Duration = DEFAULT_PATIENCE,
    options: {
      readonly clock: Clock;
      readonly log: Pick<Log, "warn">;
      /** Returns the leases whose kinds have not been listed. */
      readonly missing: () => readonly Lease[];
      readonly onLate: () => void;
    },
  ) {
    const ms = parseDuration(patience, "syncTimeout");
    this.#timer = options.clock.setTimeout(() => {
      const missing = options.missing();
      if (missing.length === 0) return;
      this.message = `not listed within ${ms / 1_000} s: ${missing.map(({ informer }) => informer.resource.kind).join(", ")}`;
      options.log.warn("Caches have not synced in time", { reason: this.message });
      options.onLate();
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
