/** Knows whose code runs, by the module graphs of Bun. */

/** Returns the module whose code runs, as an object that stands for it; `undefined` outside of modules. */
export function currentModule(): object | undefined {
  return Bun.ModuleGraph.current;
}

/** Returns the module in whose code an error was created; here its files tell. */
export function moduleInStack(_error: object): object | undefined {
  return undefined;
}
