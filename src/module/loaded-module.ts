/** A loaded module, as the registry gets it. */
import type { ModuleDefinitions } from "./module-definitions.ts";

export interface LoadedModule {
  /** The unique name in the process; it is the `module` label of metrics and log lines. */
  readonly name: string;
  /** The file as the user named it, for messages. */
  readonly file: string;
  readonly definitions: ModuleDefinitions;
  /** Calls the module's code in its own context. */
  readonly invoke: <T>(fn: () => T) => T;
  /** Ends everything that the module's code opened. Call it last. */
  dispose(): void;
}
