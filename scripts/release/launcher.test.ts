/** How signals go through the launcher of the package of npm. Whole installations are in scripts/acceptance. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Stands for the executable: it takes signals as the commands do, and drains once the test has closed its input. */
const EXECUTABLE = `
import { whenSignalled } from ${JSON.stringify(join(import.meta.dirname, "../../src/cli/signals.ts"))};
const stopped = whenSignalled((signal) => console.log("drains after " + signal));
console.log("runs");
await stopped;
for await (const _ of Bun.stdin.stream());
console.log("drained");
process.exit(0);
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-launcher-"));
  writeFileSync(join(folder, "executable.ts"), EXECUTABLE);
  mkdirSync(join(folder, "bin"));
  copyFileSync(join(import.meta.dirname, "npm/launcher.js"), join(folder, "bin/launcher.js"));
  const names = ["", "-musl"].map((libc) => `@binnacle/${process.platform}-${process.arch}${libc}`);
  const optionalDependencies = Object.fromEntries(names.map((name) => [name, "1.2.3"]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", optionalDependencies }));
  for (const name of names) {
    const bin = join(folder, "node_modules", name, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "binnacle"), `#!/bin/sh\nexec '${process.execPath}' '${join(folder, "executable.ts")}'\n`);
    chmodSync(join(bin, "binnacle"), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Launched {
  readonly pid: number;
  /** Presses a key, where there is a terminal. */
  readonly press: (key: string) => void;
}

/** Starts the launcher in a process group of its own, and calls `signal` once the executable runs. */
async function launched(
  signal: (launcher: Launched) => void,
  { inTerminal = false }: { readonly inTerminal?: boolean } = {},
) {
  const command = [Bun.which("node") ?? process.execPath, join(folder, "bin/launcher.js")];
  const decoder = new TextDecoder();
  let said = "";
  const hear = (chunk: Uint8Array): void => {
    const before = said;
    said += decoder.decode(chunk, { stream: true });
    if (!before.includes("runs") && said.includes("runs")) signal({ pid: child.pid, press });
    if (!before.includes("drains") && said.includes("drains")) end();
  };
  const press = (key: string): void => void child.terminal?.write(key);
  const end = (): void => (inTerminal ? press("\u0004") : void (child.stdin as Bun.FileSink).end());
  const child = inTerminal
    ? Bun.spawn(command, { terminal: { data: (_terminal, chunk) => hear(chunk) } })
    : Bun.spawn(command, { stdio: ["pipe", "pipe", "inherit"], detached: true });
  if (!inTerminal) for await (const chunk of child.stdout as ReadableStream<Uint8Array>) hear(chunk);
  const status = await child.exited;
  child.terminal?.close();
  return { said: said.replaceAll(/[\r\b]|\^[CD]/g, ""), status };
}

const onUnix = test.skipIf(process.platform === "win32");

onUnix.each(["SIGINT", "SIGTERM"] as const)("%s to the whole process group is one signal", async (signal) => {
  const { said, status } = await launched(({ pid }) => process.kill(-pid, signal));
  expect(said).toBe(`runs\ndrains after ${signal}\ndrained\n`);
  expect(status).toBe(0);
});

onUnix("SIGINT to the launcher alone is passed on, with and without a terminal", async () => {
  for (const inTerminal of [false, true]) {
    const { said, status } = await launched(({ pid }) => process.kill(pid, "SIGINT"), { inTerminal });
    expect(said).toBe("runs\ndrains after SIGINT\ndrained\n");
    expect(status).toBe(0);
  }
});

onUnix("the key of a terminal is one signal", async () => {
  const { said, status } = await launched(({ press }) => press("\u0003"), { inTerminal: true });
  expect(said).toBe("runs\ndrains after SIGINT\ndrained\n");
  expect(status).toBe(0);
});
