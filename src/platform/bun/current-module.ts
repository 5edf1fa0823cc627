/** Identifies the module whose code runs, by the module graphs of Bun. */

/** Returns the module whose code runs, as an object that represents it; `undefined` outside of modules. */
export function currentModule(): object | undefined {
  return Bun.ModuleGraph.current;
}

/** Returns the module in whose code an error was created; on Bun, the files of the stack show it. */
export function moduleInStack(_error: object): object | undefined {
  return undefined;
}
