/** Writes dist/binnacle-deno, the program as it runs on Deno: `bun scripts/deno/program.ts`. It is called as dist/binnacle is. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { denoProgram } from "../../tests/support/deno.ts";

const root = join(import.meta.dirname, "../..");

/** @returns the path of the script; `undefined` where there is no Deno for this machine. */
export function writeDenoProgram(): string | undefined {
  const deno = denoProgram();
  if (deno === undefined) return undefined;
  const dist = join(root, "dist");
  mkdirSync(dist, { recursive: true });
  const script = join(dist, "binnacle-deno");
  const command = [
    deno,
    "run",
    "--allow-all",
    `--config=${join(root, "deno.json")}`,
    join(root, "src", "main.deno.ts"),
  ];
  // The cache of compiled sources is the checkout's, because each test has a home of its own.
  const text = `#!/bin/sh\nDENO_DIR=${quoted(join(dist, "deno"))} DENO_NO_UPDATE_CHECK=1 exec ${command.map(quoted).join(" ")} "$@"\n`;
  writeFileSync(script, text);
  chmodSync(script, 0o755);
  return script;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

if (import.meta.main) console.log(writeDenoProgram() ?? "There is no Deno for this machine");
