/** What a candidate has seen of the Lease, with times of its own clock. */
import type { Clock } from "../platform/clock.ts";
import { durationOf, holderOf, type Lease } from "./lease.ts";
import type { LeaseLock } from "./lease-lock.ts";

export interface LeaseViewOptions {
  readonly clock: Clock;
  /** The duration in milliseconds of a Lease that does not name one. */
  readonly fallback: number;
  readonly observer?: { observed?(holder: string, since: string | undefined): void } | undefined;
}

/**
 * A Lease expires when it has not changed for its duration **by the local clock**. The times that are written in it
 * come from other machines' clocks and decide nothing.
 */
export class LeaseView {
  readonly #options: LeaseViewOptions;
  #lease: Lease | undefined;
  /** When the Lease was first seen in its present state. */
  #since = 0;
  /** The last holder that was reported; `undefined` before the first. */
  #told: string | undefined;

  constructor(options: LeaseViewOptions) {
    this.#options = options;
  }

  /** The Lease as it was last seen; `undefined` when there was none. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  get holder(): string {
    return holderOf(this.#lease);
  }

  /** Whether nobody holds the Lease, or its holder has not renewed it in time. */
  get isVacant(): boolean {
    return this.holder === "" || this.expiresIn <= 0;
  }

  /** Milliseconds until the Lease has expired; 0 or less when it has. */
  get expiresIn(): number {
    if (this.#lease === undefined) return 0;
    return this.#since + durationOf(this.#lease, this.#options.fallback) - this.#options.clock.now();
  }

  see(lease: Lease | undefined): void {
    const isSame =
      lease !== undefined &&
      this.#lease !== undefined &&
      lease.metadata.uid === this.#lease.metadata.uid &&
      lease.metadata.resourceVersion === this.#lease.metadata.resourceVersion;
    this.#lease = lease;
    if (isSame) return;
    this.#since = this.#options.clock.now();
    if (this.holder === this.#told) return;
    this.#told = this.holder;
    this.#options.observer?.observed?.(this.holder, lease?.spec?.acquireTime);
  }

  /**
   * Waits until another attempt is worthwhile: the Lease has expired, its holder released it, or it was deleted.
   *
   * The Lease is watched meanwhile, so that a hand-over is noticed at once and an idle candidate sends no requests.
   *
   * @throws ApiError or UnreachableError when the watch fails, and the signal's reason.
   */
  async vacancy(lock: LeaseLock, signal: AbortSignal): Promise<void> {
    if (this.isVacant) return;
    const ending = new AbortController();
    const vacant = new Error("the Lease is vacant");
    let timer: Disposable | undefined;
    const look = (): void => {
      timer?.[Symbol.dispose]();
      if (this.isVacant) ending.abort(vacant);
      else timer = this.#options.clock.setTimeout(look, this.expiresIn);
    };
    look();
    const either = AbortSignal.any([signal, ending.signal]);
    try {
      while (!ending.signal.aborted) {
        await lock.watch({ resourceVersion: this.#lease?.metadata.resourceVersion, signal: either }, (lease) => {
          this.see(lease);
          look();
        });
      }
    } catch (error) {
      if (!ending.signal.aborted) throw error;
    } finally {
      timer?.[Symbol.dispose]();
    }
  }
}
