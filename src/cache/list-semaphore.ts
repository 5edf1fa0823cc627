/** Lets only so many lists run at a time, or a restart would ask the server for everything at once. */

export class ListGate {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param limit how many run at a time. @default 4 */
  constructor(limit = 4) {
    this.#limit = limit;
  }

  /**
   * Waits for a turn.
   *
   * @returns what ends it.
   * @throws the signal's reason.
   */
  async enter(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#running >= this.#limit) await this.#turn(signal);
    else this.#running++;
    let left = false;
    return {
      [Symbol.dispose]: () => {
        if (left) return;
        left = true;
        // The turn is handed on: it is never free in between.
        const next = this.#waiting.shift();
        if (next === undefined) this.#running--;
        else next();
      },
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      const enter = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(enter);
    });
  }
}
