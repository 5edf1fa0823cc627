/** The asynchronous context of modules: what their code waits for and starts goes on as code of theirs. */
import { AsyncLocalStorage } from "node:async_hooks";

const modules = new AsyncLocalStorage<object>();

/** Runs a function as code of the module. */
export function runAs<T>(module: object, fn: () => T): T {
  return modules.run(module, fn);
}

/** Returns what {@link runAs} was given; `undefined` outside of modules. */
export function moduleInContext(): object | undefined {
  return modules.getStore();
}
