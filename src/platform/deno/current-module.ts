/** Identifies the module whose code runs, by the asynchronous context. */
import { moduleInContext } from "./module-context.ts";

/** Returns the module whose code runs, as an object that represents it; `undefined` outside of modules. */
export function currentModule(): object | undefined {
  return moduleInContext();
}

export { moduleInStack } from "./module-stacks.ts";
