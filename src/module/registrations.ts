/** What one version of a module registers with the process under names of its own: checks and metrics. */

export class Registrations {
  readonly #makers: (() => Disposable)[] = [];
  #active: Disposable[] = [];
  /** The registrations of the version that is still registered. */
  #before: Registrations | undefined;

  /** @param before those that {@link takeOver} replaces. @default none: each registration takes effect at once */
  constructor(before?: Registrations) {
    this.#before = before;
  }

  /** Registers one thing, or makes sure that it can be registered later. @throws what `make` throws. */
  add(make: () => Disposable): void {
    if (this.#before === undefined) this.#active.push(make());
    else this.#rehearse(make);
    this.#makers.push(make);
  }

  /** Replaces the previous version's registrations. @throws what one throws; then the previous ones are back. */
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

  /** Nothing sees what is registered meanwhile, because nothing else runs. */
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
