/** Guards the functions of Deno that modules must not call. */
import type { Refuse } from "../refused.ts";
import { deno } from "./deno.ts";
import { followResources } from "./module-resources.ts";
import { followStacks } from "./module-stacks.ts";

/** Deno's signal handlers are those of `process`, which is guarded itself. */
export function guardRuntime(refuse: Refuse): void {
  refuse(deno, { name: "exit", call: "Deno.exit", deed: "end the process" });
  refuse(deno, { name: "chdir", call: "Deno.chdir", deed: "change the working directory" });
  // These replacements must be in place before the built-in objects are protected from changes.
  followStacks();
  followResources();
}
