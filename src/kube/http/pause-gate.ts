/** Pauses a loop that reads a response. */

export class PauseGate {
  #paused: PromiseWithResolvers<void> | undefined;

  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  /** Resolves at `resume`; `undefined` while the loop may read on. */
  get resumed(): Promise<void> | undefined {
    return this.#paused?.promise;
  }
}
