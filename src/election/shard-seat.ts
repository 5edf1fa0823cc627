/** One seat of a group, from the search for it until its release: takes, renews and publishes with its Lease. */
import { Alarm } from "../platform/alarm.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import { type ElectionDurations, JITTER_FACTOR, renewalPause } from "./durations.ts";
import { type Claim, holderOf, type Lease, newLease, releasedLease, takenLease } from "./lease.ts";
import { type LockCall, release, writtenUnchanged } from "./lease-lock.ts";
import type { ShardLeases } from "./shard-leases.ts";
import {
  type Holder,
  type Member,
  memberOf,
  type Publication,
  publicationOf,
  publishing,
  sameMember,
  samePublication,
} from "./shard-publication.ts";
import type { ShardView } from "./shard-view.ts";
import { type Moment, momentOf, Term, type TermClocks } from "./term.ts";

export interface ShardSeatOptions {
  readonly durations: ElectionDurations;
  readonly leases: ShardLeases;
  readonly identity: string;
  readonly view: ShardView;
  readonly clock: Clock;
  readonly clocks: TermClocks;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Returns the publication of the next renewal. */
  readonly toPublish: () => Publication | undefined;
  /** Called when a seat is taken, with the earlier publication of this replica in its Lease. */
  readonly onTaken: (published: Publication | undefined) => void;
  /** Called once for each seat, synchronously, before the caller that discovered the loss continues. */
  readonly onLost: (reason: string) => void;
  /** Called when the Lease was renewed. */
  readonly onRenewed: () => void;
  /** Called when other replicas have taken all seats. */
  readonly onNoneFree: () => void;
  /** Called when the Lease had changed under this replica. */
  readonly onSlowPath: () => void;
  readonly onFailure: (error: unknown) => void;
  readonly onSuccess: () => void;
}

export class ShardSeat {
  readonly #options: ShardSeatOptions;
  readonly #alarm: Alarm;
  #term: Term | undefined;
  #member: Member | undefined;
  #lease: Lease | undefined;
  /** The name of the Lease that was requested last; a write without a response may have made it ours. */
  #requested: string | undefined;
  #published: Publication | undefined;
  /** Counts changes of the view, so that nobody waits for a change that has already happened. */
  #looks = 0;

  constructor(options: ShardSeatOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  /** Whether the seat is held. It compares the clocks each time and waits for no timer. */
  get isHeld(): boolean {
    return this.#term !== undefined && this.#term.ended === undefined;
  }

  /** Why this replica may work on no key; `undefined` while it holds the seat. */
  get refused(): string | undefined {
    if (this.#term === undefined) return "this process has no share of the keys";
    const { ended } = this.#term;
    return ended === undefined ? undefined : `the share of the keys was lost: ${ended}`;
  }

  /** The member that this replica is, or was last. */
  get member(): Member | undefined {
    return this.#member;
  }

  /** The publication that the server has confirmed. */
  get published(): Publication | undefined {
    return this.#published;
  }

  /** Milliseconds for which the Lease has been expired without this replica noticing; 0 otherwise. */
  get overdue(): number {
    return this.#term?.overdue(this.#options.durations.leaseDuration) ?? 0;
  }

  /** Called when the view has changed, or when there is a new publication. */
  look(): void {
    this.#looks++;
    this.#alarm.ring();
  }

  /** Takes a seat and renews it, again and again, until the signal aborts. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#take();
        await this.#sit();
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
    this.#term?.end("the process gave it up");
  }

  /** Ends the membership: from now on no slot is held. */
  end(): void {
    this.#term?.end("the process gave it up");
  }

  /** Resolves when a seat is taken. @throws the signal's reason. */
  async #take(): Promise<void> {
    const { view, identity, signal, clocks, durations, onNoneFree, onFailure, onSuccess } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const free = view.listed ? view.free(identity) : undefined;
      if (free === undefined) {
        if (view.listed) onNoneFree();
        await this.#alarm.wait(Infinity, signal);
        continue;
      }
      try {
        const looks = this.#looks;
        const since = momentOf(clocks);
        const lease = await this.#write(free, { signal, timeout: Math.max(1_000, durations.renewDeadline / 2) });
        onSuccess();
        if (lease !== undefined && this.#begin(free.seat, lease, since)) return;
        if (lease === undefined && looks === this.#looks) await this.#alarm.wait(durations.retryPeriod, signal);
      } catch (error) {
        signal.throwIfAborted();
        onFailure(error);
        await this.#pause(durations.retryPeriod * (1 + this.#options.random() * JITTER_FACTOR), signal);
      }
    }
  }

  /** Writes the Lease. @returns the Lease when the seat is ours; `undefined` when somebody else was faster. */
  #write(
    { seat, lease }: { readonly seat: number; readonly lease: Lease | undefined },
    call: LockCall,
  ): Promise<Lease | undefined> {
    const { leases, identity } = this.#options;
    const { namespace } = leases;
    const name = leases.nameOf(seat);
    this.#requested = name;
    if (lease === undefined) {
      const own = newLease({ name, namespace }, this.#claim());
      return writtenUnchanged(leases.create(publishing(own, undefined, this.#holder), call));
    }
    const publication = holderOf(lease) === identity ? publicationOf(lease) : undefined;
    return writtenUnchanged(
      leases.update(publishing(takenLease(lease, this.#claim()), publication, this.#holder), call),
    );
  }

  /** Begins a term in the seat. @returns false when the term would be over already, after a late response. */
  #begin(seat: number, lease: Lease, since: Moment): boolean {
    const { clocks, durations, onTaken, onLost } = this.#options;
    const term = new Term({ clocks, duration: durations.renewDeadline, since, onEnd: onLost });
    if (term.remaining <= 0) return false;
    this.#lease = lease;
    this.#member = memberOf(seat, lease)!;
    // A replica that returns before anybody has vacated its seat continues with the publication in the Lease.
    this.#published = publicationOf(lease);
    this.#term = term;
    onTaken(this.#published);
    return true;
  }

  /** Renews the Lease, and publishes with it, until the term is over. @throws the signal's reason. */
  async #sit(): Promise<void> {
    const { clock, clocks, durations, signal: stop, toPublish, onRenewed, onFailure, onSuccess } = this.#options;
    const { retryPeriod } = durations;
    const term = this.#term!;
    const signal = AbortSignal.any([stop, term.signal]);
    using _guard = term.guard();
    let due = clock.now() + this.#renewalPause(0);
    while (term.ended === undefined) {
      const began = clock.now();
      try {
        if (due > began && samePublication(toPublish(), this.#published)) {
          await this.#alarm.wait(Math.min(due - began, Math.max(term.remaining, 0)), signal);
          continue;
        }
        const since = momentOf(clocks);
        // The timeout leaves time for a second attempt on another connection.
        const timeout = Math.max(1, Math.min(term.remaining, Math.max(retryPeriod, term.remaining / 2)));
        if (!(await this.#renew({ signal, timeout }))) return term.end("the seat is not this replica's any more");
        onSuccess();
        if (!term.renew(since)) return;
        due = clock.now() + this.#renewalPause(clock.now() - since.steady);
        onRenewed();
      } catch (error) {
        stop.throwIfAborted();
        if (term.ended !== undefined) return;
        onFailure(error);
        await this.#pause(Math.max(0, retryPeriod - (clock.now() - began)), signal).catch(() => {});
        stop.throwIfAborted();
        due = clock.now();
      }
    }
  }

  /** Renews the Lease. @returns false when the seat is not ours any more. */
  async #renew(call: LockCall): Promise<boolean> {
    const { leases, onSlowPath, toPublish } = this.#options;
    const publication = toPublish();
    const write = (lease: Lease): Promise<Lease | undefined> =>
      writtenUnchanged(leases.update(publishing(takenLease(lease, this.#claim()), publication, this.#holder), call));
    let lease = await write(this.#lease!);
    if (lease === undefined) {
      onSlowPath();
      const { name } = this.#lease!.metadata;
      const known = await leases.get(name, call);
      const holder = memberOf(this.#member!.seat, known);
      if (known === undefined || holder === undefined || !sameMember(holder, this.#member!)) return false;
      lease = await write(known);
      if (lease === undefined) throw new Error(`The Lease ${name} changes all the time`);
    }
    this.#lease = lease;
    this.#published = publication;
    return true;
  }

  /** Empties the Lease if it is this replica's. Never rejects. */
  async release(): Promise<void> {
    const { leases, clock, clocks, identity, onFailure } = this.#options;
    const name = this.#requested;
    if (name === undefined) return;
    let known = this.#lease?.metadata.name === name ? this.#lease : undefined;
    const attempt = async (call: LockCall): Promise<boolean> => {
      const lease = known ?? (await leases.get(name, call));
      known = undefined;
      if (lease === undefined || holderOf(lease) !== identity) return true;
      return (await writtenUnchanged(leases.update(releasedLease(lease, clocks.wall.now()), call))) !== undefined;
    };
    await release(attempt, { clock, onFailure });
  }

  get #holder(): Holder {
    const { leases, durations } = this.#options;
    return { group: leases.group, renewDeadline: durations.renewDeadline };
  }

  #claim(): Claim {
    const { identity, durations, clocks } = this.#options;
    return { identity, leaseDuration: durations.leaseDuration, now: clocks.wall.now() };
  }

  #renewalPause(took: number): number {
    const { durations, random } = this.#options;
    return renewalPause(durations.retryPeriod, { took, random: random() });
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, { clock: this.#options.clock, signal });
  }
}
