/** Leaving a module's context: what the SDK opens on behalf of a module must not close with it. */
import { AsyncLocalStorage } from "node:async_hooks";

/** Taken when the process starts, outside of every module. */
const snapshot = AsyncLocalStorage.snapshot();

/**
 * The same object, with every method called in the context of the process.
 *
 * Requests and timers that begin inside a module's graph belong to it: after its removal they would never settle.
 */
export function hostBound<T extends object>(object: T): T {
  const bound = new Map<PropertyKey, unknown>();
  return new Proxy(object, {
    get(target, property) {
      const known = bound.get(property);
      if (known !== undefined) return known;
      // The object itself as receiver: getters may read private fields.
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      const method = (...args: unknown[]): unknown => snapshot(() => Reflect.apply(value, target, args));
      bound.set(property, method);
      return method;
    },
  });
}
