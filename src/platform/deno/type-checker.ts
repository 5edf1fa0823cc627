/** Checks types by `deno check`, with the sources of this program for the types of the SDK. */
import type { CheckTypesOptions } from "../type-checker.ts";
import { compilerErrors } from "./compiler-errors.ts";
import { projectConfig } from "./project.ts";
import { runTool } from "./self.ts";

/** Whether types can be checked only with the declarations of the SDK. */
export const needsDeclarations: boolean = false;

/** Checks files, by absolute paths. @returns the errors in the form of other compilers; empty when there are none. */
export async function checkTypes(files: readonly string[], { signal }: CheckTypesOptions): Promise<string> {
  const args = ["check", "--quiet", "--unstable-sloppy-imports", `--config=${projectConfig}`, ...files];
  const { status, stderr } = await runTool(args, { signal });
  return status === 0 ? "" : compilerErrors(stderr, files);
}
