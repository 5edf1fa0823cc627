/** The asynchronous context of modules: code that theirs waits for or starts also counts as theirs. */
import { AsyncLocalStorage } from "node:async_hooks";

const modules = new AsyncLocalStorage<object>();

/** Runs a function as code of the module. */
export function runAs<T>(module: object, fn: () => T): T {
  return modules.run(module, fn);
}

/** Returns the module of {@link runAs}; `undefined` outside of modules. */
export function moduleInContext(): object | undefined {
  return modules.getStore();
}

/**
 * Ends the context of what runs now, without a function around it. The runtime leaves the context of the last script
 * that it has evaluated to whatever it calls next by itself, so each evaluation of a module's scripts has to end with
 * this.
 */
export function leaveModule(): void {
  modules.enterWith(undefined as unknown as object);
}
