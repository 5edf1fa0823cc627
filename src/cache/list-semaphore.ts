/** Limits how many lists run at the same time, so that a restart does not request everything at once. */

export class ListSemaphore {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param limit how many lists run at the same time. @default 4 */
  constructor(limit = 4) {
    this.#limit = limit;
  }

  /**
   * Waits until another list may run.
   *
   * @returns what releases the semaphore when it is disposed.
   * @throws the signal's reason.
   */
  async acquire(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#running >= this.#limit) await this.#wait(signal);
    else this.#running++;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        // The permit passes directly to the next waiter, so that nobody else can take it in between.
        const next = this.#waiting.shift();
        if (next === undefined) this.#running--;
        else next();
      },
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
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
