import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeStateFolder } from "./state-folder.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "binnacle-state-"))));
afterEach(() => rmSync(folder, { recursive: true }));

test("takeStateFolder refuses a second user by name, and lets the next one in", () => {
  const path = join(folder, ".binnacle");
  const first = takeStateFolder(path);
  expect(() => takeStateFolder(path)).toThrow(`another binnacle dev runs there (process ${process.pid})`);
  first[Symbol.dispose]();
  takeStateFolder(path)[Symbol.dispose]();
  expect(existsSync(join(path, ".gitignore"))).toBe(true);
});

test("takeStateFolder takes over from a process that was killed", async () => {
  const path = join(folder, ".binnacle");
  const module = join(import.meta.dirname, "state-folder.ts");
  const code = `const s = (await import(${JSON.stringify(module)})).takeStateFolder(${JSON.stringify(path)}); console.log("has it"); setInterval(() => s, 1000)`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  await child.stdout.getReader().read();
  expect(() => takeStateFolder(path)).toThrow(`(process ${child.pid})`);
  child.kill("SIGKILL");
  await child.exited;
  takeStateFolder(path)[Symbol.dispose]();
});

test("takeStateFolder remembers the port of the kubeconfig", () => {
  {
    using state = takeStateFolder(folder);
    expect(state.port).toBe(0);
    writeFileSync(state.kubeconfig, "clusters:\n- cluster:\n    server: https://127.0.0.1:41503\n");
  }
  using again = takeStateFolder(folder);
  expect(again.port).toBe(41_503);
});

test("takeStateFolder says when it cannot make the folder", () => {
  const path = join(folder, "taken");
  writeFileSync(path, "");
  expect(() => takeStateFolder(path)).toThrow(
    `Cannot keep the cluster's state in ${path}: there is a file of that name`,
  );
});
