/** Whether a process begins runs. Someone who examines a cluster may want it to hold still. */

export class Pause {
  readonly #listeners = new Set<() => void>();
  #isPaused = false;

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** While it is paused no run begins; active runs finish, and events continue to queue keys. */
  set isPaused(isPaused: boolean) {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}
