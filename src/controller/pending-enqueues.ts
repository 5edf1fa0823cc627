/** Waits for authors' asynchronous `enqueue` functions at the start, before runs begin. */
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { within } from "./within.ts";

const DEADLINE_MS = 30_000;

export class PendingEnqueues {
  readonly #clock: Clock;
  readonly #log: Log;
  #pending: Promise<unknown>[] = [];
  /** Every function that has not settled, whether or not the start waits for it. */
  readonly #open = new Set<Promise<unknown>>();

  constructor({ runtime, log }: ControllerScope) {
    this.#clock = runtime.clock;
    this.#log = log;
  }

  /** @param awaited whether `answered` waits for it too. */
  add(work: Promise<unknown>, awaited: boolean): void {
    const guarded = work.catch((error: unknown) => this.#log.error("An 'enqueue' function failed", { error }));
    this.#open.add(guarded);
    void guarded.finally(() => this.#open.delete(guarded));
    if (awaited) this.#pending.push(guarded);
  }

  /** Resolves when everything that was added has settled. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  /** Waits for all of them and for those that are added meanwhile, up to a deadline. */
  async answered(): Promise<void> {
    const deadline = this.#clock.now() + DEADLINE_MS;
    while (this.#pending.length > 0) {
      const work = Promise.all(this.#pending.splice(0)).then(() => undefined);
      if (await within(deadline - this.#clock.now(), { work, clock: this.#clock })) continue;
      const seconds = DEADLINE_MS / 1000;
      this.#log.warn(`An 'enqueue' function has not answered for ${seconds} s: runs begin without it`);
      return;
    }
  }
}
