/** A candidate's view of the Lease, with times of its own clock. */
import type { Clock } from "../platform/clock.ts";
import { believedDuration } from "./durations.ts";
import { durationOf, holderOf, isReleased, type Lease, wasNeverHeld } from "./lease.ts";
import type { LeaseLock } from "./lease-lock.ts";

export interface LeaseViewOptions {
  readonly clock: Clock;
  /** The identity of the candidate. */
  readonly identity: string;
  /** The candidate's own lease duration in milliseconds, which limits the durations that it believes of others. */
  readonly leaseDuration: number;
  /** Milliseconds for which a vanished Lease is left to its leader, who writes it again. */
  readonly grace: number;
  readonly observer?: { observed?(holder: string, since: string | undefined): void } | undefined;
}

/** The number of unanswered claims that are remembered. */
const MOST_CLAIMS = 16;

/**
 * Decides, from the writes of others, when this candidate may claim the Lease, and when it may lead by a claim.
 *
 * A holder gets the right to write by a write to the Lease, and keeps it for less than a lease duration. So after each
 * change by others, this candidate waits that long **by the local clock**, whatever the change says: anybody may edit a
 * Lease, and the leader before the edit does not know of it yet. The exceptions are a release, which only a holder
 * writes, and a Lease that was never held. The times in a Lease come from other machines' clocks and decide nothing.
 */
export class LeaseView {
  readonly #options: LeaseViewOptions;
  #lease: Lease | undefined;
  /** Whether a Lease has ever existed. */
  #hasHistory = false;
  /** When the Lease was first seen to be gone. */
  #goneSince = -Infinity;
  /** The time until which somebody else may have the right to write. */
  #outlasts = -Infinity;
  /** The marks of this candidate's claims, which distinguish them from Leases that others wrote in its name. */
  readonly #claims = new Set<string>();
  /** The last holder that was reported; `undefined` before the first. */
  #reported: string | undefined;

  constructor(options: LeaseViewOptions) {
    this.#options = options;
  }

  /** The last known state of the Lease; `undefined` when there was none. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  get holder(): string {
    return holderOf(this.#lease);
  }

  /** Whether the Lease has this candidate's name because this candidate wrote it there. */
  get isOurs(): boolean {
    return this.#lease !== undefined && this.#isOurs(this.#lease);
  }

  /** Whether the Lease may be claimed. */
  get isVacant(): boolean {
    return this.vacantIn <= 0;
  }

  /** Milliseconds until the Lease may be claimed if nothing changes; 0 or less when it may be. */
  get vacantIn(): number {
    const { clock, grace } = this.#options;
    if (this.isOurs) return 0;
    if (this.#lease !== undefined) return this.outlastsFor;
    return this.#hasHistory ? this.#goneSince + grace - clock.now() : 0;
  }

  /** Milliseconds for which somebody else may still write, so that no claim may lead; 0 or less for none. */
  get outlastsFor(): number {
    return this.#outlasts - this.#options.clock.now();
  }

  /** Called before a claim is sent. */
  claiming(lease: Lease): void {
    this.#claims.add(markOf(lease));
    if (this.#claims.size > MOST_CLAIMS) this.#claims.delete(this.#claims.values().next().value!);
  }

  /** Records how long the holder from whom the Lease was taken may still write. */
  outlast(milliseconds: number): void {
    this.#outlasts = Math.max(this.#outlasts, this.#options.clock.now() + milliseconds);
  }

  /** Called when this candidate has renewed the Lease during its term, in which nobody else may write. */
  settle(): void {
    this.#outlasts = -Infinity;
  }

  /** Records the answer to a write of this candidate. */
  wrote(lease: Lease): void {
    this.#claims.clear();
    this.#claims.add(markOf(lease));
    this.see(lease);
  }

  /** Records the Lease that the server has shown. */
  see(lease: Lease | undefined): void {
    const before = this.#lease;
    const isSame =
      lease?.metadata.uid === before?.metadata.uid &&
      lease?.metadata.resourceVersion === before?.metadata.resourceVersion;
    this.#lease = lease;
    if (!isSame) this.#judge(lease, before);
    this.#hasHistory ||= lease !== undefined;
    if (this.holder === this.#reported) return;
    this.#reported = this.holder;
    this.#options.observer?.observed?.(this.holder, lease?.spec?.acquireTime);
  }

  /** How long the holder that a Lease names may write after the Lease was seen. */
  durationOf(lease: Lease): number {
    const { leaseDuration } = this.#options;
    return believedDuration(durationOf(lease, leaseDuration), leaseDuration);
  }

  #judge(lease: Lease | undefined, before: Lease | undefined): void {
    const now = this.#options.clock.now();
    if (lease === undefined) {
      this.#goneSince = now;
      this.#claims.clear();
      return;
    }
    // While there was no Lease, others may have led by a Lease that this candidate never saw.
    const hasGap = before === undefined && this.#hasHistory;
    const isOurs = this.#isOurs(lease);
    // A claim of ours that is stored after somebody else's is not a reason to lead.
    if (!isOurs) this.#claims.clear();
    if (!hasGap && isOurs) return;
    if (!hasGap && isReleased(lease)) {
      this.#outlasts = now;
      return;
    }
    if (wasNeverHeld(lease) && (before === undefined ? !this.#hasHistory : wasNeverHeld(before))) return;
    const duration = Math.max(this.durationOf(lease), before === undefined ? 0 : this.durationOf(before));
    this.#outlasts = Math.max(this.#outlasts, now + duration);
  }

  #isOurs(lease: Lease): boolean {
    return holderOf(lease) === this.#options.identity && this.#claims.has(markOf(lease));
  }

  /**
   * Waits until another attempt is worthwhile: the Lease has expired, its holder released it, or it has been gone for
   * the grace.
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
      else timer = this.#options.clock.setTimeout(look, this.vacantIn);
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

/**
 * Returns the text that identifies a claim: nobody else writes the same renewal time and transition, except as a copy.
 */
function markOf({ spec }: Lease): string {
  return `${spec?.renewTime} ${spec?.leaseTransitions}`;
}
