/** Takes part in the election of a leader, by the protocol of client-go, until it is stopped. */
import type { Leadership } from "../client/leadership.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../kube/errors/api-error.ts";
import { abortable } from "../platform/abortable.ts";
import { sleep } from "../platform/clock.ts";
import { checkDurations, JITTER_FACTOR } from "./durations.ts";
import type { ElectorOptions } from "./elector-options.ts";
import { Fence } from "./fence.ts";
import { type Claim, durationOf, type Lease, newLease, releasedLease, takenLease } from "./lease.ts";
import type { LockCall } from "./lease-lock.ts";
import { LeaseView } from "./lease-view.ts";
import { type Moment, momentOf, Term, type TermClocks } from "./term.ts";

/** Milliseconds that the release of the Lease may take at the end. */
const RELEASE_WITHIN = 5_000;
/** Milliseconds between two attempts to release it. */
const RELEASE_PAUSE = 100;
const FROM_NOBODY = (): boolean => false;
/** Of a Lease whose holder let it go, candidates wait up to this long, so that they do not all ask at once. */
const VACANCY_JITTER = 200;

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
  /** Wakes whoever waits for the end of the term. */
  #termEnded = new AbortController();
  #failing = false;
  #watchFailing = false;
  /** Whether a write that makes the Lease ours was sent, and nobody else was seen to hold it since. */
  #mayHold = false;
  /** Until the first term: from whom the Lease may be taken. */
  #takesOverFrom: (holder: string) => boolean;
  /** By the steady clock: until then a holder from whom the Lease was taken may still write. */
  #outlasts = -Infinity;
  /** Lets others in before it leads again. */
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
    this.#view = new LeaseView({ clock: options.clock, fallback: options.leaseDuration, observer: options.observer });
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

  /** How many milliseconds ago the Lease expired while this candidate still counted as its holder; 0 otherwise. */
  get overdue(): number {
    if (this.#term === undefined || this.#term.hasEnded) return 0;
    const { leaseDuration, renewDeadline } = this.#options;
    return Math.max(0, renewDeadline - this.#term.remaining - leaseDuration);
  }

  onChange(listener: (isLeader: boolean) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Begins to seek the Lease.
   *
   * @param ready what must be done before the Lease may be taken; meanwhile it is only read. @default nothing
   */
  start(ready: Promise<void> = Promise.resolve()): void {
    this.#done ??= this.#run(ready);
  }

  /** Ends the term and releases the Lease for a moment: a candidate that waits leads next; without one this one leads again. */
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
    // A Lease that was granted at that very moment may have begun a term since.
    this.#term?.end("the process gave it up");
    const { release = true } = this.#options;
    if (release && this.#mayHold) await this.#release();
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
    const { lock, clock, retryPeriod } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      try {
        const call = { signal, timeout: this.#requestTimeout };
        const asked = clock.now();
        this.#view.see(await lock.get(call));
        const standsBack = this.#standsBack && this.#holds;
        this.#standsBack = false;
        if (standsBack) {
          await this.#standBack(call);
          continue;
        }
        let isLate = clock.now() - asked > retryPeriod;
        await abortable(ready, signal);
        isLate = (await this.#takeOver(call)) ?? isLate;
        const since = momentOf(this.#clocks);
        const lease = isLate && this.#holds ? undefined : await this.#tryToTake(call);
        this.#succeeded();
        if (lease !== undefined) {
          if (this.#begin(lease, since)) return;
          isLate = true;
        }
        if (isLate && this.#holds) await this.#standBack(call);
        else await this.#vacancy(signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        this.#failed(error);
        await this.#pause(this.#retryDelay(), signal);
      }
    }
  }

  /**
   * Takes the Lease from a holder who renews it, when that is wished, and holds it until that one can write no more.
   * @returns whether the answer to the last renewal meanwhile was late; `undefined` when there was none
   */
  async #takeOver(call: LockCall): Promise<boolean | undefined> {
    const { lock, clock, leaseDuration, observer, retryPeriod } = this.#options;
    for (;;) {
      const { lease, holder, isVacant } = this.#view;
      if (lease === undefined || this.#holds || isVacant || !this.#takesOverFrom(holder)) break;
      if ((await this.#written(lock.update(takenLease(lease, this.#claim()), call))) === undefined) {
        this.#view.see(await lock.get(call)); // its holder has renewed it meanwhile
        continue;
      }
      this.#takesOverFrom = FROM_NOBODY;
      const wait = durationOf(lease, leaseDuration);
      this.#outlasts = clock.now() + wait;
      observer?.takenOver?.(holder, wait);
    }
    let isLate: boolean | undefined;
    while (this.#holds && clock.now() < this.#outlasts) {
      await this.#pause(Math.min(this.#outlasts - clock.now(), retryPeriod), call.signal);
      const asked = clock.now();
      if (!(await this.#renew(call))) break;
      isLate = clock.now() - asked > retryPeriod;
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
    await this.#written(this.#options.lock.update(releasedLease(lease, this.#clocks.wall.now()), call));
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
      await this.#pause(Math.min(this.#retryDelay(), Math.max(this.#view.expiresIn, 0)), signal);
    }
  }

  /** Tries to take the Lease. @returns the Lease when it is ours now, `undefined` while somebody else holds it. */
  async #tryToTake(call: LockCall): Promise<Lease | undefined> {
    const { lock, labels } = this.#options;
    const { lease } = this.#view;
    if (lease === undefined) {
      const { name, namespace } = lock.name;
      return this.#written(lock.create(newLease({ name, namespace, labels }, this.#claim()), call));
    }
    if (!this.#holds && !this.#view.isVacant) return undefined;
    return this.#written(lock.update(takenLease(lease, this.#claim()), call));
  }

  /** Awaits a write. @returns the written Lease; `undefined` when it had changed since it was read. */
  async #written(writing: Promise<Lease>): Promise<Lease | undefined> {
    this.#mayHold = true;
    try {
      const lease = await writing;
      this.#view.see(lease);
      return lease;
    } catch (error) {
      if (isAlreadyExists(error) || isConflict(error) || isNotFound(error)) return undefined;
      throw error;
    }
  }

  // Leading.

  /** Begins a term. @returns false when the response arrived so late that the term would be over already. */
  #begin(lease: Lease, since: Moment): boolean {
    const { renewDeadline, observer } = this.#options;
    const ended = new AbortController();
    const term = new Term({
      clocks: this.#clocks,
      duration: renewDeadline,
      since,
      onEnd: (reason) => {
        ended.abort(new Error(reason));
        this.#tell(false);
        if (this.#stopping.signal.aborted) observer?.resigned?.();
        else observer?.lost?.(reason);
      },
    });
    if (term.remaining <= 0) return false;
    this.#takesOverFrom = FROM_NOBODY;
    this.#termEnded = ended;
    this.#term = term;
    observer?.acquired?.(lease);
    this.#tell(true);
    return true;
  }

  /** Renews the Lease until the term is over. @throws the signal's reason. */
  async #lead(stop: AbortSignal): Promise<void> {
    const term = this.#term!;
    const { clock, renewDeadline } = this.#options;
    const signal = AbortSignal.any([stop, this.#termEnded.signal]);
    using fence = new Fence(clock, term);
    let pause = this.#renewalPause(renewDeadline - term.remaining);
    while (term.ended === undefined) {
      let began = clock.now();
      try {
        await this.#pause(Math.min(pause, Math.max(term.remaining, 0)), signal);
        const since = momentOf(this.#clocks);
        began = since.steady;
        const renewed = await this.#renew({ signal, timeout: this.#renewalTimeout(term) });
        if (!renewed) return term.end(`${this.#view.holder || "nobody"} holds the Lease`);
        this.#succeeded();
        if (!term.renew(since)) return;
        fence.rearm();
        pause = this.#renewalPause(clock.now() - since.steady);
      } catch (error) {
        stop.throwIfAborted();
        if (term.ended !== undefined) return;
        this.#failed(error);
        pause = Math.max(0, this.#options.retryPeriod - (clock.now() - began));
      }
    }
  }

  /** Writes the Lease as it was last seen and, if it has changed, as it is now. @returns false when it is not ours. */
  async #renew(call: LockCall): Promise<boolean> {
    const { lock, observer } = this.#options;
    const known = this.#view.lease;
    if (known !== undefined && this.#holds) {
      const renewed = await this.#written(lock.update(takenLease(known, this.#claim()), call));
      if (renewed !== undefined) return true;
    }
    observer?.slowPath?.();
    const lease = await lock.get(call);
    this.#view.see(lease);
    if (lease === undefined || !this.#holds) return false;
    return (await this.#written(lock.update(takenLease(lease, this.#claim()), call))) !== undefined;
  }

  /**
   * Returns the pause before the next renewal. While the server responds promptly, one renewal in a little more than
   * half of the deadline is enough and leaves time for two more attempts; a slow server gets the next renewal
   * earlier.
   */
  #renewalPause(took: number): number {
    const { renewDeadline, retryPeriod } = this.#options;
    return took > retryPeriod / 2 ? Math.max(0, retryPeriod - took) : Math.max(retryPeriod, renewDeadline * 0.55);
  }

  /**
   * Returns how long to wait for a slow server, so that there is time for a second attempt on another connection when
   * no response arrives.
   */
  #renewalTimeout({ remaining }: Term): number {
    const { renewDeadline, retryPeriod } = this.#options;
    return Math.max(1, Math.min(remaining, Math.max(retryPeriod, remaining - renewDeadline * 0.15)));
  }

  // Ending.

  async #release(): Promise<void> {
    const { lock, clock } = this.#options;
    const deadline = new AbortController();
    using _timer = clock.setTimeout(() => deadline.abort(new Error("the release took too long")), RELEASE_WITHIN);
    const { signal } = deadline;
    const call = { signal, timeout: RELEASE_WITHIN / 2 };
    while (!signal.aborted) {
      try {
        const lease = await lock.get(call);
        this.#view.see(lease);
        if (lease === undefined || !this.#holds) return;
        const released = await this.#written(lock.update(releasedLease(lease, this.#clocks.wall.now()), call));
        if (released !== undefined) return;
      } catch (error) {
        this.#failed(error);
        await this.#pause(RELEASE_PAUSE, signal).catch(() => {});
      }
    }
  }

  /** Whether the Lease was ours when it was last seen, which does not make this candidate the leader. */
  get #holds(): boolean {
    return this.#view.holder === this.identity;
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

  #claim(): Claim {
    return {
      identity: this.identity,
      leaseDuration: this.#options.leaseDuration,
      now: this.#clocks.wall.now(),
    };
  }

  #retryDelay(): number {
    return this.#options.retryPeriod * (1 + this.#random() * JITTER_FACTOR);
  }

  get #requestTimeout(): number {
    return Math.max(1_000, this.#options.renewDeadline / 2);
  }
}
