/** What `binnacle build` puts into an executable beside this program. */
import type { FoundModule } from "./scan.ts";

/** A module inside an executable. */
export interface BuiltInModule {
  /** As `run` calls it: the name of its file or folder. */
  readonly name: string;
  /** Of its code, below the folder that the program's own code is in. */
  readonly path: string;
  /** What stack traces name, the module's own file first. */
  readonly origins: readonly string[];
}

export interface BuiltInOperator {
  /** Of the executable. */
  readonly name: string;
  /** `undefined` when the modules are outside. */
  readonly modules?: readonly BuiltInModule[];
}

/** The modules as they are loaded. @param folder where the program's own code is */
export function builtInModules({ modules }: BuiltInOperator, folder: string): readonly FoundModule[] | undefined {
  return modules?.map(({ name, path, origins }) => ({ name, file: `${folder}/${path}`, origins }));
}
