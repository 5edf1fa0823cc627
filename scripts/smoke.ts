/**
 * Tests that the compiled binary, in an empty folder with an empty PATH, starts and checks README's modules with what
 * it contains.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary } from "./build.ts";
import { blocksOf } from "./house/check-readme.ts";

const root = join(import.meta.dirname, "..");
/** A module that imports everything that is offered. */
const offered = `import { defineController, z } from "binnacle";
import { Pod } from "binnacle/resources";
import { eventually, matchers, startCluster } from "binnacle/testing";
import { Hono } from "hono";
import * as zod from "zod";

export const app = new Hono().get("/", (context) => context.text(zod.string().parse("x")));
export const same: boolean = zod.string === z.string;
export const kit = [eventually, matchers, startCluster];
export const pods = defineController({ for: Pod, async reconcile() {} });
`;
const dir = await mkdtemp(join(tmpdir(), "binnacle-smoke-"));
try {
  startsAlone();
  await checksModules();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(dir, { recursive: true, force: true });
}

function startsAlone(): void {
  const { status, stdout, stderr } = run(["version"]);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  if (status !== 0 || !stdout.includes(version))
    throw new Error(`binnacle version ended with ${status}: ${stdout}${stderr}`);
}

/** Tests that `check` accepts README's modules and rejects a wrong one, with the compiler and the types in the binary. */
async function checksModules(): Promise<void> {
  const readme = join(root, "README.md");
  const blocks = existsSync(readme) ? blocksOf(readFileSync(readme, "utf8")) : [];
  const modules = blocks.filter(({ language, text }) => language === "ts" && text.includes("export "));
  for (const [index, { text }] of modules.entries()) await Bun.write(join(dir, "right", `readme-${index}.ts`), text);
  await Bun.write(join(dir, "right", "offered.ts"), offered);
  const right = run(["check", "--controllers", "right"]);
  if (right.status !== 0)
    throw new Error(`README's modules do not pass binnacle check:\n${right.stdout}${right.stderr}`);
  await Bun.write(join(dir, "wrong", "wrong.ts"), `${offered}\nexport const wrong: string = z.int();\n`);
  const wrong = run(["check", "--controllers", "wrong"]);
  const error = "wrong.ts(12,14): error TS2322";
  if (wrong.status !== 1 || !`${wrong.stdout}${wrong.stderr}`.includes(error)) {
    throw new Error(`binnacle check did not answer ${error}:\n${wrong.stdout}${wrong.stderr}`);
  }
}

function run(args: readonly string[]) {
  return spawnSync(binary, args, { cwd: dir, encoding: "utf8", env: { HOME: dir, PATH: "" } });
}
