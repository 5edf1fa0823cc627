/** Finds Deno, the second runtime, which comes with the dev dependency `deno`. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The package with Deno's executable for each machine, which needs no script after its installation. */
const libc = process.platform === "linux" ? "-glibc" : "";
const file = process.platform === "win32" ? "deno.exe" : "deno";

/** The executable; `undefined` where there is none for this machine. */
export function denoProgram(): string | undefined {
  try {
    const own = createRequire(createRequire(import.meta.url).resolve("deno/package.json"));
    return join(dirname(own.resolve(`@deno/${process.platform}-${process.arch}${libc}/package.json`)), file);
  } catch {
    return undefined;
  }
}
