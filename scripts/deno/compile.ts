/** Compiles the program for Deno: `bun scripts/build.ts --deno`, which writes dist/binnacle-deno-compiled. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { denoProgram } from "../../tests/support/deno.ts";

const root = join(import.meta.dirname, "../..");

/** What the program reads beside what it imports. */
const included = ["src/manager/stall-thread.ts", "deno.json", "package.json"];

/**
 * Writes the executable. It holds denort, the part of Deno that runs programs: `DENORT_BIN` names one, and without it
 * `deno compile` downloads it.
 *
 * @throws Error that says what is missing.
 */
export function compileForDeno(): string {
  const deno = denoProgram();
  if (deno === undefined) throw new Error("Cannot compile for Deno: there is no package `deno` for this machine");
  const runtime = process.env["DENORT_BIN"];
  if (runtime !== undefined && !existsSync(runtime))
    throw new Error(`Cannot compile for Deno: DENORT_BIN names '${runtime}', which is not there`);
  mkdirSync(join(root, "dist"), { recursive: true });
  const output = join(root, "dist", "binnacle-deno-compiled");
  const args = ["compile", "--allow-all", "--no-check", `--config=${join(root, "deno.json")}`, `--output=${output}`];
  const all = [...args, ...included.map((file) => `--include=${join(root, file)}`), join(root, "src/main.deno.ts")];
  const env = { ...process.env, DENO_DIR: join(root, "dist", "deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  const { status, stderr } = spawnSync(deno, all, { cwd: root, env, encoding: "utf8" });
  if (status === 0) return output;
  const isMissing = runtime === undefined && /denort|dl\.deno\.land|[Dd]ownload/.test(stderr);
  throw new Error(
    isMissing
      ? "Cannot compile for Deno: denort cannot be downloaded from here; set DENORT_BIN to the denort of Deno's release"
      : `Cannot compile for Deno: ${stderr.trim()}`,
  );
}
