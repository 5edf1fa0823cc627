/** Knows whose code runs, by the module graphs of Bun. */

/** Returns the module whose code runs, as an object that stands for it; `undefined` outside of modules. */
export function currentModule(): object | undefined {
  return Bun.ModuleGraph.current;
}
