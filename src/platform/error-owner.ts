/** Finds the module to which an uncaught error belongs. */
import { currentModule, moduleInStack } from "#runtime/current-module";
import { loopMarks } from "./loop-marks.ts";

/** The module whose call an error of the SDK has rejected, by that error. */
const owners = new WeakMap<object, object>();

/** The loaded modules with their files and their error handlers. */
const modules = new Map<object, ModuleFiles>();

export interface ModuleFiles {
  /** The real paths, the module's own file first. */
  readonly files: readonly string[];
  readonly onError: (error: unknown) => void;
  /** The loop mark of the module, set when one of its calls is answered. @default none */
  readonly mark?: number | undefined;
}

/** Registers a module as a possible owner of errors, until it is disposed of. */
export function knowModule(graph: object, module: ModuleFiles): Disposable {
  modules.set(graph, module);
  return { [Symbol.dispose]: () => void modules.delete(graph) };
}

/** Returns the same promise; the error with which it rejects belongs to the module that calls this function. */
export function ownedByCaller<T>(promise: Promise<T>): Promise<T> {
  const graph = currentModule();
  if (graph === undefined) return promise;
  const mark = modules.get(graph)?.mark ?? 0;
  return promise.then(
    (value) => {
      loopMarks.goOn(mark);
      return value;
    },
    (error: unknown) => {
      loopMarks.goOn(mark);
      if (typeof error === "object" && error !== null) owners.set(error, graph);
      throw error;
    },
  );
}

/**
 * Reports an uncaught error to its module.
 *
 * The platform knows the owner only while a function of the module runs. So the owner is also found by the call from
 * which the error came, and by the files that its stack names.
 *
 * @returns false when the owner is unknown.
 */
export function tellOwner(error: unknown): boolean {
  const owner = ownerOf(error);
  owner?.onError(error);
  return owner !== undefined;
}

/** Whether code of a module is running, in its context or called by the host. */
export function isModuleCode(): boolean {
  if (currentModule() !== undefined) return true;
  const files = filesInStack(new Error("where am I").stack ?? "");
  return [...modules.values()].some((module) => module.files.some((file) => files.includes(file)));
}

function ownerOf(error: unknown): ModuleFiles | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const graph = owners.get(error) ?? moduleInStack(error);
  if (graph !== undefined) return modules.get(graph);
  const { stack } = error as { readonly stack?: unknown };
  const files = typeof stack === "string" ? filesInStack(stack) : [];
  const named = [...modules.values()].filter((module) => files.includes(module.files[0]!));
  if (named.length > 0) return named.length === 1 ? named[0] : undefined;
  const users = [...modules.values()].filter((module) => module.files.some((file) => files.includes(file)));
  return users.length === 1 ? users[0] : undefined;
}

/** The files of a stack's frames, innermost first. */
export function filesInStack(stack: string): readonly string[] {
  return [...stack.matchAll(/(?:\(|^ *at (?:async )?)([^()\n]+):\d+:\d+\)?$/gm)].map(([, file]) => file!);
}
