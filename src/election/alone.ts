/** Gives the leadership of a task to one of the replicas, by the slot of the task's name. */
import type { Leadership } from "../client/leadership.ts";
import type { Shards } from "../client/shards.ts";

export class Alone implements Leadership {
  readonly #shards: Shards;
  readonly #slot: number;

  constructor(shards: Shards, slot: number) {
    this.#shards = shards;
    this.#slot = slot;
  }

  get isLeader(): boolean {
    return this.#shards.held.has(this.#slot);
  }

  get refused(): string | undefined {
    return this.#shards.refused ?? (this.isLeader ? undefined : "another replica does this");
  }

  onChange(listener: (isLeader: boolean) => void): Disposable {
    let told = this.isLeader;
    const look = (): void => {
      if (told !== this.isLeader) listener((told = !told));
    };
    const stack = new DisposableStack();
    stack.use(
      this.#shards.join({
        gained: look,
        drop: async () => look(),
      }),
    );
    stack.use(this.#shards.onChange(look));
    return stack;
  }
}
