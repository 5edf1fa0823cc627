/** Whether a process begins runs, of all modules or of some. Someone who examines a cluster may want it to hold still. */

export class Pause {
  readonly #listeners = new Set<() => void>();
  readonly #modules = new Set<string>();
  #isPaused = false;

  /** Whether the whole process is paused. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** While it is paused no run begins; active runs finish, and events continue to queue keys. */
  set isPaused(isPaused: boolean) {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#changed();
  }

  /** The modules that are paused by themselves. */
  get modules(): readonly string[] {
    return [...this.#modules];
  }

  /** Pauses the runs of one module, or lets them begin again. */
  setPaused(module: string, isPaused: boolean): void {
    if (isPaused === this.#modules.has(module)) return;
    if (isPaused) this.#modules.add(module);
    else this.#modules.delete(module);
    this.#changed();
  }

  /** Whether no run of a module begins. */
  holds(module: string): boolean {
    return this.#isPaused || this.#modules.has(module);
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
