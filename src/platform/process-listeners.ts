/**
 * Removes the process listeners of a module together with it: listeners for signals and for the end would otherwise
 * outlive a module graph.
 */
import { currentModule } from "#runtime/current-module";

type Listener = (...args: unknown[]) => void;

interface Added {
  readonly event: string | symbol;
  readonly listener: Listener;
}

/** The number of listeners from which on those that are gone are searched; doubled when few are. */
const FIRST_LOOK = 64;

/** The listeners that one module has added. */
class Listeners {
  #added: Added[] = [];
  #lookAt = FIRST_LOOK;

  add(one: Added): void {
    this.#added.push(one);
    if (this.#added.length < this.#lookAt) return;
    this.#added = this.#added.filter(({ event, listener }) => process.listeners(event as "exit").includes(listener));
    this.#lookAt = Math.max(FIRST_LOOK, 2 * this.#added.length);
  }

  remove(): void {
    for (const { event, listener } of this.#added) process.off(event, listener);
  }
}

const added = new Map<object, Listeners>();
const ADDING = ["on", "addListener", "once", "prependListener", "prependOnceListener"] as const;

let isFollowing = false;

/** From now on it is known which module adds a listener to the process. */
export function followProcessListeners(): void {
  if (isFollowing) return;
  isFollowing = true;
  const functions = process as unknown as Record<string, (event: string | symbol, listener: Listener) => unknown>;
  for (const name of ADDING) {
    const own = functions[name]!;
    functions[name] = (event, listener) => {
      own.call(process, event, listener); // which checks them
      const module = currentModule();
      if (module === undefined) return process;
      let listeners = added.get(module);
      if (listeners === undefined) added.set(module, (listeners = new Listeners()));
      listeners.add({ event, listener });
      return process;
    };
  }
}

/** Removes the listeners that code of a module has added. */
export function removeProcessListeners(module: object): void {
  added.get(module)?.remove();
  added.delete(module);
}
