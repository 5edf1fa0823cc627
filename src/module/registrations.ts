/** The named registrations of one version of a module with the process: checks and metrics. */

export class Registrations {
  readonly #makers: (() => Disposable)[] = [];
  #active: Disposable[] = [];
  /** The registrations of the version that is still registered. */
  #before: Registrations | undefined;

  /**
   * @param before the registrations that {@link takeOver} replaces. @default none: each registration takes effect at
   * once
   */
  constructor(before?: Registrations) {
    this.#before = before;
  }

  /** Registers one check or metric, or ensures that it can be registered later. @throws the error of `make`. */
  add(make: () => Disposable): void {
    if (this.#before === undefined) this.#active.push(make());
    else this.#rehearse(make);
    this.#makers.push(make);
  }

  /**
   * Replaces the previous version's registrations. @throws the error of a registration; then the previous ones are
   * back.
   */
  takeOver(): void {
    const before = this.#before;
    if (before === undefined) return;
    const restore = before.#suspend();
    try {
      this.#register();
    } catch (error) {
      this.withdraw();
      restore();
      throw error;
    }
    this.#before = undefined;
  }

  /** Removes everything. */
  withdraw(): void {
    for (const one of this.#active.splice(0)) one[Symbol.dispose]();
  }

  /** Undoes {@link takeOver}. */
  giveBack(before: Registrations): void {
    this.withdraw();
    before.#register();
  }

  #register(): void {
    for (const make of this.#makers) this.#active.push(make());
  }

  /** Removes everything for the moment. @returns a function that registers it again. */
  #suspend(): () => void {
    if (this.#active.length === 0) return () => {};
    this.withdraw();
    return () => this.#register();
  }

  /** Nobody sees the temporary registration, because nothing else runs meanwhile. */
  #rehearse(make: () => Disposable): void {
    const restore = this.#before!.#suspend();
    try {
      this.#register();
      make()[Symbol.dispose]();
    } finally {
      this.withdraw();
      restore();
    }
  }
}
