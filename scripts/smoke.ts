/** The compiled binary, in an empty folder with an empty PATH: it starts, and checks README's modules with what is in it. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { binary } from "./build.ts";
import { blocksOf } from "./house/check-readme.ts";

const root = join(import.meta.dirname, "..");
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

/** The packed types accept README's modules and refuse a wrong one, with the compiler that is in the binary. */
async function checksModules(): Promise<void> {
  await unpack(join(dir, "types"));
  const readme = join(root, "README.md");
  const blocks = existsSync(readme) ? blocksOf(readFileSync(readme, "utf8")) : [];
  const modules = blocks.filter(({ language, text }) => language === "ts" && text.includes("export "));
  await mkdir(join(dir, "right"));
  for (const { line, text } of modules) await writeFile(join(dir, "right", `readme-${line}.ts`), text);
  await writeFile(
    join(dir, "right", "offered.ts"),
    'export { z } from "binnacle";\nexport { Pod } from "binnacle/resources";\n',
  );
  const right = await check("right");
  if (right.status !== 0)
    throw new Error(`README's modules do not pass the binary's own check:\n${right.stdout}${right.stderr}`);
  await mkdir(join(dir, "wrong"));
  await writeFile(
    join(dir, "wrong", "wrong.ts"),
    'import { z } from "binnacle";\nexport const wrong: string = z.int();\n',
  );
  const wrong = await check("wrong");
  if (!wrong.stdout.includes("wrong.ts(2,14): error TS2322")) {
    throw new Error(`The binary's own check did not find the error in wrong.ts:\n${wrong.stdout}${wrong.stderr}`);
  }
}

async function unpack(folder: string): Promise<void> {
  const packed = Bun.zstdDecompressSync(await Bun.file(join(dirname(binary), "sdk.json.zst")).bytes());
  const files = JSON.parse(new TextDecoder().decode(packed)) as Record<string, string>;
  for (const [path, text] of Object.entries(files)) await Bun.write(join(folder, path), text);
}

async function check(folder: string) {
  const config = join(dir, "types", `${folder}.json`);
  await writeFile(config, JSON.stringify({ extends: "./tsconfig.json", include: [join(dir, folder)] }));
  return run(["check", "--no-script", "--no-pretty", "-p", config], { BUN_BE_BUN: "1" });
}

function run(args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(binary, args, { cwd: dir, encoding: "utf8", env: { HOME: dir, PATH: "", ...env } });
}
