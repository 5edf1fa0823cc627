/** Sources of keys that plugins offer under a name to controllers of any module. */
import { TryElsewhere } from "../reconcile/errors.ts";
import { enqueuedKeys } from "./event-mapping.ts";
import type { Enqueued } from "./watch.ts";

/** A controller that names a source. */
export interface SourceListener {
  /** Why this replica does not work on a key of the queue; `undefined` when it does. */
  readonly refuses: (key: string) => string | undefined;
  readonly add: (key: string) => void;
}

/** The sources of a process, by name. A listener may begin before a source with its name exists. */
export class NamedSources {
  readonly #listeners = new Map<string, Set<SourceListener>>();

  listen(name: string, listener: SourceListener): Disposable {
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

  /**
   * Whether every listening controller works on this key here. @throws TypeError for a value that is neither a key nor
   * an object
   */
  takes(name: string, item: Enqueued): boolean {
    const [key] = enqueuedKeys([item]);
    return this.#refusal(name, key!) === undefined;
  }

  /**
   * Queues keys at every controller that listens.
   *
   * @throws TypeError for a value that is neither a key nor an object, and TryElsewhere, after all other keys were
   * queued, when this replica does not work on a key.
   */
  enqueue(name: string, items: readonly Enqueued[]): void {
    let refusal: string | undefined;
    for (const key of enqueuedKeys(items)) {
      refusal ??= this.#refusal(name, key);
      for (const listener of this.#listeners.get(name) ?? []) {
        if (listener.refuses(key) === undefined) listener.add(key);
      }
    }
    if (refusal !== undefined) throw new TryElsewhere(`Cannot enqueue for '${name}': ${refusal}`);
  }

  #refusal(name: string, key: string): string | undefined {
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return "no controller that names the source is running";
    for (const { refuses } of listeners) {
      const refusal = refuses(key);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
}
