/** A module that loaded: what the registry is given. */
import type { ModuleDefinitions } from "./module-definitions.ts";

export interface LoadedModule {
  /** Unique in the process; the `module` label of metrics and log lines. */
  readonly name: string;
  /** As the user named it, for messages. */
  readonly file: string;
  readonly definitions: ModuleDefinitions;
  /** Calls the module's code in its own context. */
  readonly invoke: <T>(fn: () => T) => T;
  /** Ends everything the module's code opened. Call it last. */
  dispose(): void;
}
