/** Leaving a module's context: what the SDK opens on behalf of a module must not close with it. */
import { AsyncLocalStorage } from "node:async_hooks";

/** Taken when the process starts, outside of every module. */
const snapshot = AsyncLocalStorage.snapshot();

/**
 * Calls a function in the context of the process.
 *
 * Requests and timers that begin inside a module's graph belong to it: after its removal they would never settle.
 */
export function asHost<T>(fn: () => T): T {
  return snapshot(fn);
}

/** The same object with the named methods called in the context of the process. */
export function hostBound<T extends object>(object: T, methods: readonly (keyof T & string)[]): T {
  const bound = Object.create(object) as Record<string, unknown>;
  for (const method of methods) {
    const original = object[method];
    if (typeof original !== "function") throw new TypeError(`Cannot bind ${method}: it is not a method`);
    bound[method] = (...args: unknown[]) => snapshot(() => Reflect.apply(original, object, args));
  }
  return bound as T;
}
