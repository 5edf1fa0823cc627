/** Whose error it is that nobody caught. */

/** Of errors of the SDK that a module's call was rejected with: the call's module. */
const owners = new WeakMap<object, Bun.ModuleGraph>();

/** The loaded modules' files, and whom to tell. */
const modules = new Map<Bun.ModuleGraph, ModuleFiles>();

export interface ModuleFiles {
  /** Real paths, the module's own file first. */
  readonly files: readonly string[];
  readonly onError: (error: unknown) => void;
}

/** From now on errors can be told to be this module's, until it is disposed of. */
export function knowModule(graph: Bun.ModuleGraph, module: ModuleFiles): Disposable {
  modules.set(graph, module);
  return { [Symbol.dispose]: () => void modules.delete(graph) };
}

/** The same promise; what it is rejected with is the error of the module that calls this, if one does. */
export function ownedByCaller<T>(promise: Promise<T>): Promise<T> {
  const graph = Bun.ModuleGraph.current;
  if (graph === undefined) return promise;
  return promise.catch((error: unknown) => {
    if (typeof error === "object" && error !== null) owners.set(error, graph);
    throw error;
  });
}

/**
 * Tells a module of an error that nobody caught.
 *
 * The platform knows whose it is only when a function of the module was under way. So it is also looked for by the call that it
 * came from, and by the files that its stack names.
 *
 * @returns false when it cannot be said whose it is.
 */
export function tellOwner(error: unknown): boolean {
  const owner = ownerOf(error);
  owner?.onError(error);
  return owner !== undefined;
}

/** Whether code of a module is under way: in its context, or called by the host without it. */
export function isModuleCode(): boolean {
  if (Bun.ModuleGraph.current !== undefined) return true;
  const files = filesIn(new Error("where am I").stack ?? "");
  return [...modules.values()].some((module) => module.files.some((file) => files.includes(file)));
}

function ownerOf(error: unknown): ModuleFiles | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const graph = owners.get(error);
  if (graph !== undefined) return modules.get(graph);
  const { stack } = error as { readonly stack?: unknown };
  const files = typeof stack === "string" ? filesIn(stack) : [];
  const named = [...modules.values()].filter((module) => files.includes(module.files[0]!));
  if (named.length > 0) return named.length === 1 ? named[0] : undefined;
  const users = [...modules.values()].filter((module) => module.files.some((file) => files.includes(file)));
  return users.length === 1 ? users[0] : undefined;
}

function filesIn(stack: string): readonly string[] {
  return [...stack.matchAll(/\(?((?:\/|[A-Za-z]:\\)[^()\n]*):\d+:\d+\)?$/gm)].map(([, file]) => file!);
}
