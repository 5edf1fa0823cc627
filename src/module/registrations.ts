/** What one version of a module registers with the process: checks and metrics, which have names of their own. */

export class Registrations {
  readonly #makers: (() => Disposable)[] = [];
  #made: Disposable[] = [];
  /** Those of the version that is still registered. */
  #before: Registrations | undefined;

  /** @param before those in whose place these come, by {@link takeOver}. @default none: each is registered at once */
  constructor(before?: Registrations) {
    this.#before = before;
  }

  /**
   * Registers one thing, or makes sure that it can be registered later.
   *
   * @throws what `make` throws, such as that somebody else has the name.
   */
  add(make: () => Disposable): void {
    if (this.#before === undefined) this.#made.push(make());
    else this.#rehearse(make);
    this.#makers.push(make);
  }

  /** Takes away those of the version before and registers these. @throws what one of them throws; then the others are back. */
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

  /** Takes everything away. */
  withdraw(): void {
    for (const one of this.#made.splice(0)) one[Symbol.dispose]();
  }

  /** Undoes {@link takeOver}. */
  giveBack(before: Registrations): void {
    this.withdraw();
    before.#register();
  }

  #register(): void {
    for (const make of this.#makers) this.#made.push(make());
  }

  /** @returns what registers again what was registered. */
  #suspend(): () => void {
    if (this.#made.length === 0) return () => {};
    this.withdraw();
    return () => this.#register();
  }

  /** Nobody sees what is registered meanwhile, because nothing else runs. */
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
