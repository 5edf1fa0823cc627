/** Keeps the view of a group's seats current, and vacates seats whose holders have not renewed their Leases. */
import { type Clock, sleep } from "../platform/clock.ts";
import { isConflict, isNotFound } from "../kube/errors/api-error.ts";
import type { ElectionDurations } from "./durations.ts";
import { releasedLease } from "./lease.ts";
import type { ShardLeases } from "./shard-leases.ts";
import { ShardView } from "./shard-view.ts";

export interface ShardWatchOptions extends Pick<ElectionDurations, "renewDeadline" | "retryPeriod"> {
  readonly leases: ShardLeases;
  readonly identity: string;
  readonly seats: number;
  /** Milliseconds after which a Lease that did not change is taken from its holder. */
  readonly expiresAfter: number;
  readonly clock: Clock;
  readonly wall: Pick<Clock, "now">;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called when the view has changed, or a Lease has expired. */
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
}

export class ShardWatch {
  readonly view: ShardView;
  readonly #options: ShardWatchOptions;
  readonly #vacating = new Set<number>();
  #expiry: Disposable | undefined;

  constructor(options: ShardWatchOptions) {
    const { clock, seats, expiresAfter, leases } = options;
    this.#options = options;
    this.view = new ShardView({ clock, seats, expiresAfter, nameOf: (seat) => leases.nameOf(seat) });
  }

  /** Lists and watches the Leases until the signal aborts. Never rejects. */
  async run(): Promise<void> {
    const { leases, clock, renewDeadline, retryPeriod, random, signal, onFailure } = this.#options;
    let heardAt = clock.now();
    while (!signal.aborted) {
      try {
        const listed = await leases.list({ signal, timeout: Math.max(1_000, renewDeadline / 2) });
        this.view.list(listed.leases, clock.now() - heardAt > renewDeadline);
        heardAt = clock.now();
        this.#changed();
        await leases.watch({ resourceVersion: listed.resourceVersion, signal }, (lease, isDeleted) => {
          heardAt = clock.now();
          this.view.see(lease, isDeleted);
          this.#changed();
        });
      } catch (error) {
        if (signal.aborted) break;
        onFailure(error);
        await sleep((retryPeriod * (1 + random())) / 4, { clock, signal }).catch(() => {});
      }
    }
    this.#expiry?.[Symbol.dispose]();
  }

  #changed(): void {
    const { identity, clock, retryPeriod, signal, onChange } = this.#options;
    if (signal.aborted) return;
    this.#expiry?.[Symbol.dispose]();
    for (const seat of this.view.expired(identity)) void this.#vacate(seat);
    onChange();
    const next = this.view.nextExpiry(identity);
    // Seats that have expired already are tried again.
    if (next !== undefined) {
      this.#expiry = clock.setTimeout(() => this.#changed(), next <= 0 ? retryPeriod : next);
    }
  }

  /**
   * Takes the seat from a holder whose Lease has expired. The write succeeds only if the Lease has not changed since
   * it was seen, so a holder that has renewed it meanwhile keeps it.
   */
  async #vacate(seat: number): Promise<void> {
    const { leases, wall, renewDeadline, signal, onFailure } = this.#options;
    const lease = this.view.lease(seat);
    if (lease === undefined || this.#vacating.has(seat)) return;
    this.#vacating.add(seat);
    try {
      await leases.update(releasedLease(lease, wall.now()), { signal, timeout: Math.max(1_000, renewDeadline / 2) });
    } catch (error) {
      // Another replica was faster, and the watch will show its write.
      if (!signal.aborted && !isConflict(error) && !isNotFound(error)) onFailure(error);
    } finally {
      this.#vacating.delete(seat);
    }
  }
}
