/** Takes part in the election of a leader, by the protocol of client-go, until it is stopped. */
import type { Leadership } from "../client/leadership.ts";
import { abortable } from "../platform/abortable.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import { checkDurations, type ElectionDurations, JITTER_FACTOR, renewalPause, renewalTimeout } from "./durations.ts";
import { type Claim, type Lease, newLease, releasedLease, shownHolder, takenLease } from "./lease.ts";
import { type LeaseLock, type LockCall, release, writtenUnchanged } from "./lease-lock.ts";
import { LeaseView } from "./lease-view.ts";
import { type Moment, momentOf, Term, type TermClocks } from "./term.ts";

export interface ElectorOptions extends ElectionDurations {
  readonly lock: LeaseLock;
  /** Distinguishes this candidate from all others. */
  readonly identity: string;
  /** Labels of a Lease that this candidate creates. @default none */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Empties the Lease at the end, so that another candidate need not wait for it to expire. @default true */
  readonly release?: boolean | undefined;
  /**
   * Whether the Lease may be taken from this holder, although the holder still renews it. It is taken so only once,
   * before the first term. The term begins when the holder can write no more: after its lease duration. @default from
   * nobody
   */
  readonly takesOverFrom?: ((holder: string) => boolean) | undefined;
  /** The clock of timers, and the steady clock of terms. */
  readonly clock: Clock;
  /** @default the machine's time of day */
  readonly wall?: Pick<Clock, "now"> | undefined;
  /** Returns a number between 0 and 1. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Receives the events of the election; nothing that it throws is caught. */
  readonly observer?: ElectionObserver | undefined;
}

/** The events of an election, for logs, metrics and Events of Kubernetes. */
export interface ElectionObserver {
  /** The holder of the Lease has changed; an empty one means nobody. `since` is a time of the holder's clock. */
  observed?(holder: string, since: string | undefined): void;
  acquired?(lease: Lease): void;
  /**
   * The Lease was taken from a holder. This candidate waits for so many milliseconds, until the holder can write no
   * more.
   */
  takenOver?(holder: string, wait: number): void;
  lost?(reason: string): void;
  /** A leader that was asked to stop leads no more. */
  resigned?(): void;
  /** The Lease had changed under a leader, who had to read it again. */
  slowPath?(): void;
  /** The Lease cannot be watched, and is read again and again instead. */
  unwatched?(error: unknown): void;
  /** An attempt failed; `first` after an attempt that did not. */
  failed?(error: unknown, first: boolean): void;
}

const FROM_NOBODY = (): boolean => false;
/** The longest wait after a release, in milliseconds, so that candidates do not all send requests at once. */
const VACANCY_JITTER = 200;
/** The number of retry periods for which a vanished Lease is left to its leader, who writes it again. */
const GRACE_PERIODS = 2.5;

/**
 * One candidate.
 *
 * **Guarantees.** `isLeader` is true only while a renewal that was begun less than `renewDeadline` ago has succeeded.
 * `refused` compares the clocks at each call, so a process that was stopped or blocked writes nothing after it wakes.
 * A candidate that lost the Lease seeks it again. Nothing is left running after {@link stop}.
 */
export class Elector implements Leadership {
  readonly identity: string;
  readonly #options: ElectorOptions;
  readonly #clocks: TermClocks;
  readonly #random: () => number;
  readonly #listeners = new Set<(isLeader: boolean) => void>();
  readonly #stopping = new AbortController();
  readonly #view: LeaseView;
  #term: Term | undefined;
  #failing = false;
  #watchFailing = false;
  /** Whether a write that makes the Lease ours was sent, and no other holder was seen since. */
  #mayHold = false;
  /** Whether the Lease may be taken from a holder who renews it; from nobody after the first term has begun. */
  #takesOverFrom: (holder: string) => boolean;
  /** Whether others get a chance to lead before this candidate leads again. */
  #standsBack = false;
  #done: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  /** Creates a candidate. @throws RangeError when the durations conflict, TypeError without an identity. */
  constructor(options: ElectorOptions) {
    checkDurations(options);
    if (options.identity === "") throw new TypeError("Cannot elect a leader: the candidate's identity is empty");
    this.identity = options.identity;
    this.#options = options;
    this.#clocks = { steady: options.clock, wall: options.wall ?? Date };
    this.#random = options.random ?? Math.random;
    this.#takesOverFrom = options.takesOverFrom ?? FROM_NOBODY;
    const { clock, identity, leaseDuration, retryPeriod, observer } = options;
    this.#view = new LeaseView({ clock, identity, leaseDuration, grace: GRACE_PERIODS * retryPeriod, observer });
  }

  get isLeader(): boolean {
    return this.#term !== undefined && this.#term.ended === undefined;
  }

  get refused(): string | undefined {
    const term = this.#term;
    if (term === undefined) return "this process is not the leader";
    const { ended } = term;
    return ended === undefined ? undefined : `leadership was lost: ${ended}`;
  }

  /** The last known holder of the Lease; empty for nobody. */
  get holder(): string {
    return this.#view.holder;
  }

  /** Milliseconds since the Lease expired while this candidate still counted as its holder; 0 otherwise. */
  get overdue(): number {
    return this.#term?.overdue(this.#options.leaseDuration) ?? 0;
  }

  onChange(listener: (isLeader: boolean) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Begins to seek the Lease. @param ready until then the Lease is only read. @default nothing */
  start(ready: Promise<void> = Promise.resolve()): void {
    this.#done ??= this.#run(ready);
  }

  /** Ends the term and releases the Lease for a moment: a waiting candidate leads next, or this one again. */
  stepDown(reason: string): void {
    if (!this.isLeader) return;
    this.#standsBack = true;
    this.#term!.end(reason);
  }

  /** Gives up the Lease, and releases it when it is ours. Resolves when nothing is running any more; never throws. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#stopping.abort(new Error("the election is over"));
    this.#term?.end("the process gave it up");
    await this.#done;
    // A Lease that was granted meanwhile may have begun a term.
    this.#term?.end("the process gave it up");
    const { release: releases = true, clock } = this.#options;
    if (!releases || !this.#mayHold) return;
    await release((call) => this.#isReleased(call), { clock, onFailure: (error) => this.#failed(error) });
  }

  /** Releases the Lease when it is ours. @returns false when it had changed since it was read. */
  async #isReleased(call: LockCall): Promise<boolean> {
    const lease = await this.#options.lock.get(call);
    this.#view.see(lease);
    if (lease === undefined || !this.#view.isOurs) return true;
    return (await this.#update(this.#releasedLease(lease), call)) !== undefined;
  }

  #releasedLease(lease: Lease): Lease {
    return releasedLease(lease, this.#clocks.wall.now(), this.#view.outlastsFor);
  }

  async #run(ready: Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#acquire(ready, signal);
        await this.#lead(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  // Following.

  /** Resolves when the Lease is ours. @throws the signal's reason. */
  async #acquire(ready: Promise<void>, signal: AbortSignal): Promise<void> {
    const { lock, clock, renewDeadline, retryPeriod } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      try {
        const call = { signal, timeout: Math.max(1_000, renewDeadline / 2) };
        const began = clock.now();
        this.#view.see(await lock.get(call));
        const standsBack = this.#standsBack && this.#view.isOurs;
        this.#standsBack = false;
        if (standsBack) {
          await this.#standBack(call);
          continue;
        }
        let isLate = clock.now() - began > retryPeriod;
        await abortable(ready, signal);
        isLate = (await this.#takeOver(call)) ?? isLate;
        const since = momentOf(this.#clocks);
        const lease = isLate && this.#view.isOurs ? undefined : await this.#tryToTake(call);
        this.#succeeded();
        if (lease !== undefined) {
          if (this.#view.outlastsFor > 0) continue; // the Lease is ours, but its last holder must be outlasted first
          if (this.#begin(lease, since)) return;
          isLate = true;
        }
        if (isLate && this.#view.isOurs) await this.#standBack(call);
        else await this.#vacancy(signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        this.#failed(error);
        await this.#pause(this.#retryDelay(), signal);
      }
    }
  }

  /**
   * Takes the Lease from a holder who renews it, if that is requested, and then renews it until no earlier holder can
   * write any more.
   *
   * @returns whether the answer to the last of these renewals was late; `undefined` when there was none
   */
  async #takeOver(call: LockCall): Promise<boolean | undefined> {
    const { lock, clock, observer, retryPeriod } = this.#options;
    for (;;) {
      const { lease, holder, isVacant } = this.#view;
      if (lease === undefined || isVacant || !this.#takesOverFrom(holder)) break;
      if ((await this.#update(takenLease(lease, this.#claim()), call)) === undefined) {
        this.#view.see(await lock.get(call)); // its holder has renewed it meanwhile
        continue;
      }
      this.#takesOverFrom = FROM_NOBODY;
      const wait = this.#view.durationOf(lease);
      this.#view.outlast(wait);
      observer?.takenOver?.(shownHolder(holder), wait);
    }
    let isLate: boolean | undefined;
    while (this.#view.isOurs && this.#view.outlastsFor > 0) {
      await this.#pause(Math.min(this.#view.outlastsFor, retryPeriod), call.signal);
      const start = clock.now();
      if (!(await this.#renew(call))) break;
      isLate = clock.now() - start > retryPeriod;
    }
    return isLate;
  }

  /**
   * Releases a Lease that nobody uses, because responses arrive late here: its renewals would reach the server and
   * keep away candidates with a better connection. When none of them takes it, it is taken again.
   */
  async #standBack(call: LockCall): Promise<void> {
    const { lease } = this.#view;
    if (lease === undefined) return;
    await this.#update(this.#releasedLease(lease), call);
    await this.#pause(this.#retryDelay(), call.signal);
  }

  /** Waits until the Lease may be free. If it cannot be watched, it is read again after the retry period. */
  async #vacancy(signal: AbortSignal): Promise<void> {
    const { lock, observer } = this.#options;
    try {
      await this.#view.vacancy(lock, signal);
      this.#watchFailing = false;
      await this.#pause(this.#random() * VACANCY_JITTER, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!this.#watchFailing) observer?.unwatched?.(error);
      this.#watchFailing = true;
      await this.#pause(Math.min(this.#retryDelay(), Math.max(this.#view.vacantIn, 0)), signal);
    }
  }

  /** Tries to take the Lease. @returns the Lease when it is ours now, `undefined` while somebody else holds it. */
  async #tryToTake(call: LockCall): Promise<Lease | undefined> {
    const { lease, isVacant } = this.#view;
    if (!isVacant) return undefined;
    return lease === undefined ? this.#create(call) : this.#update(takenLease(lease, this.#claim()), call);
  }

  #create(call: LockCall): Promise<Lease | undefined> {
    const { lock, labels } = this.#options;
    const { name, namespace } = lock.name;
    const lease = newLease({ name, namespace, labels }, this.#claim());
    return this.#written(lease, () => lock.create(lease, call));
  }

  #update(lease: Lease, call: LockCall): Promise<Lease | undefined> {
    return this.#written(lease, () => this.#options.lock.update(lease, call));
  }

  /** Writes the Lease. @returns the written one; `undefined` when it had changed since it was read. */
  async #written(lease: Lease, write: () => Promise<Lease>): Promise<Lease | undefined> {
    this.#mayHold = true;
    this.#view.claiming(lease);
    const written = await writtenUnchanged(write());
    if (written !== undefined) this.#view.wrote(written);
    return written;
  }

  // Leading.

  /** Begins a term. @returns false when the response arrived so late that the term would be over already. */
  #begin(lease: Lease, since: Moment): boolean {
    const { renewDeadline, observer } = this.#options;
    const term = new Term({
      clocks: this.#clocks,
      duration: renewDeadline,
      since,
      onEnd: (reason) => {
        this.#tell(false);
        if (this.#stopping.signal.aborted) observer?.resigned?.();
        else observer?.lost?.(reason);
      },
    });
    if (term.remaining <= 0) return false;
    this.#takesOverFrom = FROM_NOBODY;
    this.#term = term;
    observer?.acquired?.(lease);
    this.#tell(true);
    return true;
  }

  /** Renews the Lease until the term is over. @throws the signal's reason. */
  async #lead(stop: AbortSignal): Promise<void> {
    const term = this.#term!;
    const { clock, renewDeadline } = this.#options;
    const signal = AbortSignal.any([stop, term.signal]);
    using _guard = term.guard();
    let pause = this.#renewalPause(renewDeadline - term.remaining);
    while (term.ended === undefined) {
      let began = clock.now();
      try {
        await this.#pause(Math.min(pause, Math.max(term.remaining, 0)), signal);
        const since = momentOf(this.#clocks);
        began = since.steady;
        const renewed = await this.#renew({ signal, timeout: renewalTimeout(term.remaining, this.#options) });
        if (!renewed) return term.end(`${shownHolder(this.#view.holder) || "nobody"} holds the Lease`);
        this.#succeeded();
        if (!term.renew(since)) return;
        this.#view.settle();
        pause = this.#renewalPause(clock.now() - since.steady);
      } catch (error) {
        stop.throwIfAborted();
        if (term.ended !== undefined) return;
        this.#failed(error);
        pause = Math.max(0, this.#options.retryPeriod - (clock.now() - began));
      }
    }
  }

  /**
   * Writes the Lease as it was last seen and, if it has changed, as it is now. During a term nobody else can have begun
   * one, so a leader writes its name again where somebody deleted the Lease or emptied its holder.
   *
   * @returns false when somebody else holds it.
   */
  async #renew(call: LockCall): Promise<boolean> {
    const { lock, observer } = this.#options;
    const known = this.#view.lease;
    if (known !== undefined && this.#mayRenew) {
      if ((await this.#update(takenLease(known, this.#claim()), call)) !== undefined) return true;
    }
    observer?.slowPath?.();
    const lease = await lock.get(call);
    this.#view.see(lease);
    if (!this.#mayRenew) return false;
    const writing = lease === undefined ? this.#create(call) : this.#update(takenLease(lease, this.#claim()), call);
    return (await writing) !== undefined;
  }

  /** Whether the Lease is ours or, during a term, nobody else's. */
  get #mayRenew(): boolean {
    const { holder, isOurs } = this.#view;
    return isOurs || (this.isLeader && (holder === "" || holder === this.identity));
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, { clock: this.#options.clock, signal });
  }

  #tell(isLeader: boolean): void {
    for (const listener of this.#listeners) listener(isLeader);
  }

  #succeeded(): void {
    this.#failing = false;
  }

  #failed(error: unknown): void {
    this.#options.observer?.failed?.(error, !this.#failing);
    this.#failing = true;
  }

  /** Random microseconds distinguish this claim from another candidate's in the same millisecond. */
  #claim(): Claim {
    const now = Math.floor(this.#clocks.wall.now()) + this.#random();
    return { identity: this.identity, leaseDuration: this.#options.leaseDuration, now };
  }

  #renewalPause(took: number): number {
    return renewalPause(this.#options.retryPeriod, { took, random: this.#random() });
  }

  #retryDelay(): number {
    return this.#options.retryPeriod * (1 + this.#random() * JITTER_FACTOR);
  }
}
