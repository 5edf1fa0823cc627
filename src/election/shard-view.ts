/** A replica's view of the seats of its group, with times of its own clock. */
import type { Clock } from "../platform/clock.ts";
import { compareVersions } from "../resource/meta.ts";
import { believedDuration, expiryOf } from "./durations.ts";
import { durationOf, holderOf, isReleased, type Lease } from "./lease.ts";
import { deadlineOf, type Member, memberOf, type Publication, publicationOf } from "./shard-publication.ts";

interface Seat {
  lease: Lease;
  /** The time at which the Lease was first seen in its present state. */
  since: number;
  /** Whether the Lease was deleted; its holder may work until it would have expired. */
  isDeleted: boolean;
  /** The present Lease, when somebody else emptied it: its holder may work until it would have expired. */
  emptied?: Lease;
}

export interface ShardViewOptions {
  readonly clock: Clock;
  /** The minimum number of milliseconds after which a Lease that did not change is taken from its holder. */
  readonly expiresAfter: number;
  readonly nameOf: (seat: number) => string;
  readonly seats: number;
}

/**
 * The Leases of a group exactly as lists and watches have shown them. A replica that sees its own Lease here therefore
 * also sees every earlier write.
 */
export class ShardView {
  readonly #options: ShardViewOptions;
  readonly #seats = new Map<number, Seat>();
  readonly #numbers: ReadonlyMap<string, number>;
  /** Whether a list has been received. */
  listed = false;

  constructor(options: ShardViewOptions) {
    this.#options = options;
    this.#numbers = new Map(Array.from({ length: options.seats }, (_, seat) => [options.nameOf(seat), seat]));
  }

  /** Takes a list. @param wasBlind whether renewals may have been missed; then the time of every Lease begins again. */
  list(leases: readonly Lease[], wasBlind: boolean): void {
    const now = this.#options.clock.now();
    const seatsInList = new Set<number>();
    for (const lease of leases) {
      const seat = this.#numbers.get(lease.metadata.name);
      if (seat === undefined) continue;
      seatsInList.add(seat);
      this.see(lease, false);
    }
    for (const [seat, known] of this.#seats) {
      // Its holder may have renewed the Lease once more before it was deleted.
      const isMissed = !seatsInList.has(seat) && !known.isDeleted;
      if (isMissed) known.isDeleted = true;
      if (isMissed || wasBlind) known.since = now;
    }
    this.listed = true;
  }

  see(lease: Lease, isDeleted: boolean): void {
    const seat = this.#numbers.get(lease.metadata.name);
    if (seat === undefined) return;
    const known = this.#seats.get(seat);
    const { uid, resourceVersion = "" } = lease.metadata;
    if (known !== undefined && !isDeleted) {
      const before = (known.emptied ?? known.lease).metadata;
      const isOld = compareVersions(resourceVersion, before.resourceVersion ?? "") <= 0;
      if (isOld && uid === before.uid) return;
    }
    if (isDeleted) {
      if (known !== undefined && known.lease.metadata.uid === uid) known.isDeleted = true;
      return;
    }
    if (known !== undefined && holderOf(known.lease) !== "" && holderOf(lease) === "" && !isReleased(lease)) {
      this.#seats.set(seat, { ...known, since: this.#options.clock.now(), isDeleted: false, emptied: lease });
      return;
    }
    this.#seats.set(seat, { lease, since: this.#options.clock.now(), isDeleted: false });
  }

  lease(seat: number): Lease | undefined {
    const known = this.#seats.get(seat);
    return known?.emptied ?? known?.lease;
  }

  /** The members sorted by seat, including those whose Leases have expired until somebody vacates their seats. */
  get members(): readonly Member[] {
    const members: Member[] = [];
    for (const [seat, { lease, isDeleted, emptied }] of this.#seats) {
      if ((isDeleted || emptied !== undefined) && this.#expiresIn(seat) <= 0) continue;
      const member = memberOf(seat, lease);
      if (member !== undefined) members.push(member);
    }
    return members.sort((a, b) => a.seat - b.seat);
  }

  member(seat: number): Member | undefined {
    return memberOf(seat, this.#seats.get(seat)?.lease);
  }

  published(seat: number): Publication | undefined {
    return publicationOf(this.#seats.get(seat)?.lease);
  }

  /** The seats to vacate: their holders have not renewed their Leases in time. Seats of `identity` never count. */
  expired(identity: string): readonly number[] {
    const expired: number[] = [];
    for (const [seat, { lease, isDeleted }] of this.#seats) {
      const holder = holderOf(lease);
      if (!isDeleted && holder !== "" && holder !== identity && this.#expiresIn(seat) <= 0) expired.push(seat);
    }
    return expired;
  }

  /** Milliseconds until the next Lease of another replica expires; `undefined` when no other replica holds one. */
  nextExpiry(identity: string): number | undefined {
    let next: number | undefined;
    for (const [seat, { lease }] of this.#seats) {
      const holder = holderOf(lease);
      if (holder === "" || holder === identity) continue;
      const left = this.#expiresIn(seat);
      if (next === undefined || left < next) next = left;
    }
    return next;
  }

  /** The seat to take, and its Lease if there is one: the own seat first, then the lowest vacant one. */
  free(identity: string): { readonly seat: number; readonly lease: Lease | undefined } | undefined {
    let lowest: { readonly seat: number; readonly lease: Lease | undefined } | undefined;
    for (let seat = 0; seat < this.#options.seats; seat++) {
      const known = this.#seats.get(seat);
      const holder = holderOf(known?.lease);
      if (known !== undefined && !known.isDeleted && holder === identity) return { seat, lease: this.lease(seat) };
      const isFree = known === undefined || holder === "" || this.#expiresIn(seat) <= 0;
      if (lowest === undefined && isFree) {
        lowest = { seat, lease: known?.isDeleted === true ? undefined : this.lease(seat) };
      }
    }
    return lowest;
  }

  #expiresIn(seat: number): number {
    const known = this.#seats.get(seat);
    if (known === undefined) return 0;
    const { clock, expiresAfter } = this.#options;
    return known.since + believedDuration(expiryOfHolder(known.lease), expiresAfter) - clock.now();
  }
}

/** The time may be longer than this replica's own, because replicas get new durations one by one. */
function expiryOfHolder(lease: Lease): number {
  const renewDeadline = deadlineOf(lease);
  return renewDeadline === undefined ? 0 : expiryOf({ leaseDuration: durationOf(lease, Infinity), renewDeadline });
}
