/** Sources of keys that plugins offer under a name to controllers of any module. */
import { enqueuedKeys } from "./event-mapping.ts";
import type { Enqueued } from "./watch.ts";

/** Called with a key of the queue. */
export type KeyListener = (key: string) => void;

/** The sources of a process, by name. A listener may begin before a source with its name exists. */
export class NamedSources {
  readonly #listeners = new Map<string, Set<KeyListener>>();

  listen(name: string, listener: KeyListener): Disposable {
    let listeners = this.#listeners.get(name);
    if (listeners === undefined) this.#listeners.set(name, (listeners = new Set()));
    listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener);
        if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name);
      },
    };
  }

  /** Queues keys at every controller that listens. @throws TypeError for what is neither a key nor an object. */
  enqueue(name: string, given: readonly Enqueued[]): void {
    const keys = enqueuedKeys(given);
    for (const listener of this.#listeners.get(name) ?? []) for (const key of keys) listener(key);
  }
}
