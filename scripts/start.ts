/** Builds the binary if necessary, and runs `binnacle dev` on controllers/. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { binary, build, isBuilt } from "./build.ts";

const root = join(import.meta.dirname, "..");

try {
  if (!isBuilt()) {
    const began = performance.now();
    console.log("Building dist/binnacle");
    await build();
    console.log(`Built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  process.exitCode = await dev();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Runs the binary to its end. A terminal sends Ctrl-C to it as well; other signals are passed on. */
async function dev(): Promise<number> {
  const child = spawn(binary, ["dev", ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return await new Promise((resolve, reject) => {
    child.once("error", reject).once("exit", (code) => resolve(code ?? 1));
  });
}
