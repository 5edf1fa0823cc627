/** Prometheus' own promtool, built once with Go from its module and kept outside the repository. */
import { join } from "node:path";
import { goProgram } from "../../scripts/controlplane/go-program.ts";

/** Without the service discoveries, of which rules need none, it takes a minute to build instead of ten. */
const BUILD = ["-tags", "remove_all_sd", "github.com/prometheus/prometheus/cmd/promtool"];

/**
 * Returns the path of promtool; `undefined` where there is no Go to build it.
 *
 * @throws Error in CI, which never goes without.
 */
export async function promtool(): Promise<string | undefined> {
  const program = await goProgram("promtool", join(import.meta.dirname, "promtool"), BUILD);
  if (program !== undefined) return program;
  if (/^(1|true)$/i.test(process.env["CI"] ?? "")) throw new Error("promtool cannot be built: there is no Go");
  console.log("Skipped: tests that need promtool (there is no Go to build it)");
  return undefined;
}

/** @returns what promtool printed. @throws Error with it when promtool finds something wrong. */
export async function runPromtool(program: string, ...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([program, ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`promtool ${args.join(" ")}:\n${out}${err}`);
  return out;
}
