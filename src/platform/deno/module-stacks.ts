/** Makes stack traces name the files of modules by their paths, and remembers to whom an error belongs. */
import { versionsIn, withPaths } from "./module-address.ts";

/** The versions of modules whose code is in the stack of an error. */
const seen = new WeakMap<object, readonly string[]>();

type Prepare = (error: Error, frames: readonly unknown[]) => unknown;

let areFollowed = false;

/** From now on stack traces have these forms. They are made when somebody reads them, so an error costs no more. */
export function followStacks(): void {
  if (areFollowed) return;
  areFollowed = true;
  const prepare: Prepare = (error, frames) => {
    const lines = frames.map((frame) => `    at ${String(frame)}`);
    const text = lines.join("\n");
    const versions = versionsIn(text);
    if (versions.length > 0) seen.set(error, versions);
    return [heading(error), ...(lines.length === 0 ? [] : [withPaths(text)])].join("\n");
  };
  (Error as unknown as { prepareStackTrace: Prepare }).prepareStackTrace = prepare;
}

function heading(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return "Error";
  }
}

/** The loaded versions. */
const modules = new Map<string, object>();

/** From now on errors of a version belong to its module, until it is disposed of. */
export function ownVersion(version: string, module: object): Disposable {
  modules.set(version, module);
  return { [Symbol.dispose]: () => void modules.delete(version) };
}

/**
 * Returns the module in whose code an error was created, or which called the code that created it; `undefined` when it
 * is gone.
 */
export function moduleInStack(error: object): object | undefined {
  try {
    void (error as { readonly stack?: unknown }).stack; // which has it made
  } catch {
    // A getter of the module throws.
  }
  const [innermost] = seen.get(error) ?? [];
  return innermost === undefined ? undefined : modules.get(innermost);
}
