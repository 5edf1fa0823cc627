/** One replica of a group that divides the keys among its members, from its start to its stop. */
import { SlotSet, slotOfName } from "../cache/slots.ts";
import type { Leadership } from "../client/leadership.ts";
import type { ShardParticipant, Shards } from "../client/shards.ts";
import type { Clock } from "../platform/clock.ts";
import { shareOf } from "./division.ts";
import { checkDurations, type ElectionDurations, expiryOf } from "./durations.ts";
import type { ShardLeases } from "./shard-leases.ts";
import { type Member, nextPublication, type Publication, sameMember, samePublication } from "./shard-publication.ts";
import { ShardSeat } from "./shard-seat.ts";
import type { ShardView } from "./shard-view.ts";
import { ShardWatch } from "./shard-watch.ts";
import type { TermClocks } from "./term.ts";

export interface ShardMemberOptions extends ElectionDurations {
  readonly leases: ShardLeases;
  /** Distinguishes this replica from all others, including earlier ones. */
  readonly identity: string;
  /** The number of replicas that work; further ones stand by. */
  readonly seats: number;
  /** Releases the Lease at the end. @default true */
  readonly release?: boolean | undefined;
  readonly clock: Clock;
  /** The time of day. @default the machine's */
  readonly wall?: Pick<Clock, "now"> | undefined;
  /** Returns a number from 0 to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
  readonly observer?: ShardObserver | undefined;
}

/** The events of a membership, for logs, metrics and health. */
export interface ShardObserver {
  /** All members have published the same division, and this replica works on its share of it. */
  divided?(publication: Publication): void;
  /** Other replicas have taken all seats. */
  standsBy?(): void;
  /** The membership has ended, and a new one is sought. */
  lost?(reason: string): void;
  /** The Lease had changed under its holder, who had to read it again. */
  slowPath?(): void;
  /** An attempt failed; `first` is set when the previous one succeeded. */
  failed?(error: unknown, first: boolean): void;
}

/** Slots that are being handed over. */
interface Dropping {
  readonly slots: SlotSet;
}

/**
 * One replica.
 *
 * **Guarantees.** `held` never has a slot in common with `held` of another replica, nor with what a participant of
 * another one has not dropped yet, as long as the rates of clocks differ by less than a quarter. Nothing is held from
 * the renew deadline on; this is checked at each call and needs no timer. Nothing keeps running after {@link stop}.
 */
export class ShardMember implements Shards {
  readonly #options: ShardMemberOptions;
  readonly #watch: ShardWatch;
  readonly #view: ShardView;
  readonly #seat: ShardSeat;
  readonly #listeners = new Set<(isLeader: boolean) => void>();
  readonly #participants = new Set<ShardParticipant>();
  readonly #stopping = new AbortController();
  #held = SlotSet.none;
  /** The division to publish as soon as no work outside of its share is under way. */
  #wanted: Publication | undefined;
  /** The highest generation that this replica ever intended to publish. */
  #generation = 0;
  #dropping: readonly Dropping[] = [];
  #failing = false;
  #standsBy = false;
  /** The time at which this replica took the present or last seat. */
  #seatedAt = 0;
  #done: Promise<unknown> | undefined;
  #stopped: Promise<void> | undefined;

  /** Creates a member. @throws RangeError when the durations conflict. */
  constructor(options: ShardMemberOptions) {
    checkDurations(options);
    const { clock, wall = Date, leases, random = Math.random, observer } = options;
    this.#options = options;
    const clocks: TermClocks = { steady: clock, wall };
    const shared = {
      leases,
      identity: options.identity,
      clock,
      random,
      signal: this.#stopping.signal,
      onFailure: (error: unknown) => this.#failed(error),
    };
    this.#watch = new ShardWatch({
      ...shared,
      ...options,
      wall,
      random,
      expiresAfter: expiryOf(options),
      onChange: () => this.#evaluate(),
    });
    this.#view = this.#watch.view;
    this.#seat = new ShardSeat({
      ...shared,
      durations: options,
      view: this.#view,
      clocks,
      toPublish: () => this.#toPublish,
      onTaken: (published) => this.#taken(published),
      onLost: (reason) => this.#lost(reason),
      onRenewed: () => this.#evaluate(),
      onNoneFree: () => this.#standBy(),
      onSlowPath: () => observer?.slowPath?.(),
      onSuccess: () => (this.#failing = false),
    });
  }

  get isLeader(): boolean {
    return this.#seat.isHeld;
  }

  get refused(): string | undefined {
    return this.#seat.refused;
  }

  get held(): SlotSet {
    return this.#seat.isHeld ? this.#held : SlotSet.none;
  }

  /** The seat of this replica; `undefined` when it has none. */
  get seat(): number | undefined {
    return this.#seat.isHeld ? this.#seat.member?.seat : undefined;
  }

  /** The replicas and their seats, from this replica's view. */
  get members(): readonly Member[] {
    return this.#view.members;
  }

  /**
   * Whether it is known if this replica has a share. A replica without one counts as settled after two lease durations
   * in its seat: replicas that were started with fewer seats do not see it, and a rolling update ends those only when
   * this one is ready.
   */
  get isSettled(): boolean {
    if (this.#standsBy || this.held.size > 0) return true;
    const { clock, leaseDuration } = this.#options;
    return this.#seat.isHeld && clock.now() - this.#seatedAt >= 2 * leaseDuration;
  }

  /** The present or last seat of this replica. It compares no clocks. */
  get lastSeat(): number | undefined {
    return this.#seat.member?.seat;
  }

  /** Milliseconds for which the seat's Lease has been expired without this replica noticing; 0 otherwise. */
  get overdue(): number {
    return this.#seat.overdue;
  }

  onChange(listener: (isLeader: boolean) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  join(participant: ShardParticipant): Disposable {
    this.#participants.add(participant);
    if (this.held.size > 0) participant.gained?.(this.held);
    return { [Symbol.dispose]: () => void this.#participants.delete(participant) };
  }

  alone(name: string): Leadership {
    return new Alone(this, slotOfName(name));
  }

  start(): void {
    this.#done ??= Promise.all([this.#watch.run(), this.#seat.run()]);
  }

  /** Gives up the seat and all held slots. Resolves when nothing is running any more; never throws. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#stopping.abort(new Error("the membership is over"));
    this.#seat.end();
    await this.#done;
    if (this.#options.release !== false) await this.#seat.release();
  }

  /** Acts on the seats that are seen, published and dropped. */
  #evaluate(): void {
    if (this.#stopping.signal.aborted) return;
    this.#divide();
    this.#seat.look();
  }

  #divide(): void {
    const { member, isHeld } = this.#seat;
    if (!isHeld || member === undefined) return;
    // Until the own seat is visible, others may have taken seats before it that this replica has not seen.
    const visible = this.#view.member(member.seat);
    if (visible === undefined || !sameMember(visible, member)) return;
    const { members } = this.#view;
    const published: Publication[] = [];
    for (const other of members) {
      const publication = sameMember(other, member) ? undefined : this.#view.published(other.seat);
      if (publication !== undefined) published.push(publication);
    }
    const wanted = nextPublication({ members, published, own: this.#wanted, generation: this.#generation });
    if (!samePublication(wanted, this.#wanted)) {
      this.#wanted = wanted;
      this.#generation = wanted.generation;
      this.#shrinkTo(shareIn(wanted, member));
    }
    if (samePublication(this.#seat.published, wanted) && this.#isAgreed(wanted, member)) this.#growTo(wanted, member);
  }

  #isAgreed(division: Publication, self: Member): boolean {
    return division.members.every((member) => {
      if (sameMember(member, self)) return true;
      const seen = this.#view.member(member.seat);
      if (seen === undefined || !sameMember(seen, member)) return false;
      return samePublication(this.#view.published(member.seat), division);
    });
  }

  #growTo(division: Publication, member: Member): void {
    const share = shareIn(division, member);
    const gained = share.without(this.#held);
    if (gained.size === 0) return;
    this.#held = share;
    this.#options.observer?.divided?.(division);
    for (const participant of this.#participants) participant.gained?.(gained);
    // A replica that lost its membership may hold less than before.
    if (this.#dropping.length === 0) this.#tellDropped();
  }

  /** Takes the slots outside of the share out of `held`; the division is published when their work has ended. */
  #shrinkTo(share: SlotSet): void {
    const slots = this.#held.without(share);
    if (slots.size === 0) return;
    this.#held = this.#held.and(share);
    const dropping = { slots };
    this.#dropping = [...this.#dropping, dropping];
    const drops = [...this.#participants].map(async (participant) => participant.drop?.(slots));
    void Promise.allSettled(drops).then(() => {
      this.#dropping = this.#dropping.filter((other) => other !== dropping);
      if (this.#dropping.length === 0) this.#tellDropped();
      this.#evaluate();
    });
  }

  /** The publication of the next renewal: the new division, unless work outside of its share goes on. */
  get #toPublish(): Publication | undefined {
    const wanted = this.#wanted;
    if (wanted === undefined || this.#dropping.length === 0) return wanted;
    const share = shareIn(wanted, this.#seat.member!);
    return this.#dropping.every(({ slots }) => share.includes(slots)) ? wanted : this.#seat.published;
  }

  #taken(published: Publication | undefined): void {
    this.#wanted = published;
    this.#generation = Math.max(this.#generation, published?.generation ?? 0);
    this.#standsBy = false;
    this.#seatedAt = this.#options.clock.now();
    for (const listener of this.#listeners) listener(true);
    this.#evaluate();
  }

  #lost(reason: string): void {
    this.#held = SlotSet.none;
    for (const listener of this.#listeners) listener(false);
    if (!this.#stopping.signal.aborted) this.#options.observer?.lost?.(reason);
  }

  #standBy(): void {
    if (this.#standsBy) return;
    this.#standsBy = true;
    this.#tellDropped();
    this.#options.observer?.standsBy?.();
  }

  #tellDropped(): void {
    for (const participant of this.#participants) participant.dropped?.();
  }

  #failed(error: unknown): void {
    this.#options.observer?.failed?.(error, !this.#failing);
    this.#failing = true;
  }
}

function shareIn({ members }: Publication, { seat }: Member): SlotSet {
  return shareOf(
    seat,
    members.map((member) => member.seat),
  );
}

/** The leadership for a task that only one of the replicas does: the holder of the slot of its name. */
class Alone implements Leadership {
  readonly #shards: Shards;
  readonly #slot: number;

  constructor(shards: Shards, slot: number) {
    this.#shards = shards;
    this.#slot = slot;
  }

  get isLeader(): boolean {
    return this.#shards.held.has(this.#slot);
  }

  get refused(): string | undefined {
    return this.#shards.refused ?? (this.isLeader ? undefined : "another replica does this");
  }

  onChange(listener: (isLeader: boolean) => void): Disposable {
    let wasLeader = this.isLeader;
    const look = (): void => {
      if (wasLeader !== this.isLeader) listener((wasLeader = !wasLeader));
    };
    const stack = new DisposableStack();
    stack.use(
      this.#shards.join({
        gained: look,
        drop: async () => look(),
      }),
    );
    stack.use(this.#shards.onChange(look));
    return stack;
  }
}
