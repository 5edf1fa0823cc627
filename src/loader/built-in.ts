/** The modules that `binnacle build` puts into an executable beside this program. */
import type { ModuleEntry } from "./scan.ts";

/** A module inside an executable. */
export interface BuiltInModule {
  /** The name of its file or folder, as `run` uses it. */
  readonly name: string;
  /** The path of its code, relative to the folder of the program's own code. */
  readonly path: string;
  /** The paths in stack traces, the module's own file first. */
  readonly origins: readonly string[];
}

export interface BuiltInOperator {
  /** The name of the executable. */
  readonly name: string;
  /** The modules; `undefined` when they are outside of the executable. */
  readonly modules?: readonly BuiltInModule[];
}

/** Returns the modules in the form in which they are loaded. @param folder the folder of the program's own code */
export function builtInModules({ modules }: BuiltInOperator, folder: string): readonly ModuleEntry[] | undefined {
  return modules?.map(({ name, path, origins }) => ({ name, file: `${folder}/${path}`, origins }));
}
