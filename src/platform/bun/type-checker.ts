/** Checks types by the type checker of Bun, which is in this executable. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckTypesOptions } from "../type-checker.ts";
import { runTool } from "./self.ts";

/** Whether types can be checked only with the declarations of the SDK. */
export const needsDeclarations: boolean = true;

/** Checks files, by absolute paths. @returns the compiler's output; empty when there are no errors. */
export async function checkTypes(files: readonly string[], { sdk, signal }: CheckTypesOptions): Promise<string> {
  if (sdk === undefined) throw new Error("Cannot check types: there are no declarations of the SDK");
  const folder = await mkdtemp(join(await realpath(tmpdir()), "binnacle-check-"));
  try {
    const config = join(folder, "tsconfig.json");
    await writeFile(
      config,
      JSON.stringify({ extends: join(sdk, "tsconfig.json"), compilerOptions: { allowJs: true }, files }),
    );
    const { status, stdout, stderr } = await runTool(["check", "--no-script", "--no-pretty", "-p", config], {
      signal,
    });
    if (status === 0) return "";
    return stdout.trim() === "" ? stderr.trim() : stdout.trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
