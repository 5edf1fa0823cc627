/**
 * Leaves a module's context, because connections and timers that the SDK opens for a module must not be closed together
 * with it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "./clock.ts";
import { ownedByCaller } from "./error-owner.ts";

/** Captured when the process starts, outside of every module. */
const snapshot = AsyncLocalStorage.snapshot();

/**
 * Returns the same object with every method called in the context of the process.
 *
 * Requests and timers that begin inside a module's graph belong to it, and would never settle after its removal.
 */
export function hostBound<T extends object>(object: T): T {
  const bound: object = {};
  // A Proxy would be slower, because every request would go through its traps.
  for (let owner: object = object; owner !== Object.prototype; owner = Object.getPrototypeOf(owner) as object) {
    for (const name of Reflect.ownKeys(owner)) {
      if (Object.hasOwn(bound, name)) continue;
      const { value } = Object.getOwnPropertyDescriptor(owner, name)!;
      if (typeof value !== "function") Object.defineProperty(bound, name, { get: () => Reflect.get(object, name) });
      else Object.defineProperty(bound, name, { value: asHost(value.bind(object)) });
    }
  }
  return bound as T;
}

/** Returns a clock whose timers outlive the module that sets them. */
export function hostClock(base: Clock): Clock {
  const bound = hostBound(base);
  return { now: () => base.now(), setTimeout: (callback, ms) => bound.setTimeout(callback, ms) };
}

/** Calls the work in the context of the process, to which belongs whatever it starts. */
export function inHost<T>(work: () => T): T {
  return snapshot(work);
}

function asHost(method: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
  return (...args) => {
    const answer = snapshot(method, ...args);
    return answer instanceof Promise ? ownedByCaller(answer) : answer;
  };
}
