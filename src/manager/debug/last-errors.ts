/** The errors of the keys whose last run failed. The recorder of runs may have forgotten these runs. */
import type { RunningController } from "../../controller/controller.ts";

type Queues = readonly { readonly name: string; readonly queue: Pick<RunningController["queue"], "has"> }[];

/** The errors are looked through when there are twice as many as after the last time, but not below this number. */
const LEAST_LOOK = 256;

/**
 * **Guarantees.** It holds at most twice as many errors as there are keys in the queues, beside a small number: the key
 * of an object that was deleted leaves its queue without another run.
 */
export class LastErrors {
  readonly #controllers: () => Queues;
  /** Error messages by controller and key. */
  readonly #errors = new Map<string, string>();
  #nextLook = LEAST_LOOK;

  constructor(controllers: () => Queues) {
    this.#controllers = controllers;
  }

  get size(): number {
    return this.#errors.size;
  }

  of(controller: string, key: string): string | undefined {
    return this.#errors.get(`${controller} ${key}`);
  }

  /** Called with each run that ends. @param error `undefined` after a success. */
  ended(controller: string, key: string, error: string | undefined): void {
    if (error === undefined) {
      this.#errors.delete(`${controller} ${key}`);
      return;
    }
    this.#errors.set(`${controller} ${key}`, error);
    if (this.#errors.size >= this.#nextLook) this.#forget();
  }

  /** Forgets the errors of keys that no queue holds any more. */
  #forget(): void {
    const queues = new Map(this.#controllers().map(({ name, queue }) => [name, queue]));
    for (const id of this.#errors.keys()) {
      const space = id.indexOf(" ");
      if (queues.get(id.slice(0, space))?.has(id.slice(space + 1)) !== true) this.#errors.delete(id);
    }
    this.#nextLook = Math.max(LEAST_LOOK, 2 * this.#errors.size);
  }
}
