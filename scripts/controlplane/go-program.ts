/** Programs written in Go that tests need: each is built once, and kept outside the repository. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { locked } from "./assets.ts";

/**
 * The program of a folder with Go sources, of which each state has its own file; `undefined` where it has not been built and there is
 * no Go to build it.
 *
 * @param name how the file begins, and what messages call it
 * @param build what `go build` gets: flags, and the package, which is by default that of the folder itself
 */
export async function goProgram(
  name: string,
  source: string,
  build: readonly string[] = ["."],
): Promise<string | undefined> {
  const files = (await readdir(source)).filter((file) => /^go\.(mod|sum)$|\.go$/.test(file)).sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(await readFile(join(source, file)));
  if (build.length > 1) hash.update(build.join(" "));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const program = join(cache, "binnacle", `${name}-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(program)) return program;
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return undefined;
  await locked(`${program}.lock`, async () => {
    if (existsSync(program)) return;
    console.error(`Building ${program} with Go, once (up to a minute)`);
    const aside = `${program}.${process.pid}`;
    // These are the flags of the control plane's build, whose packages are compiled already.
    const child = spawn("go", ["build", "-trimpath", "-ldflags", "-s -w", "-o", aside, ...build], {
      cwd: source,
      stdio: ["ignore", 2, 2],
      env: { ...process.env, CGO_ENABLED: "0" },
    });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`Cannot build the program '${name}': go build ended with ${code}`);
    await rename(aside, program);
  });
  return program;
}
