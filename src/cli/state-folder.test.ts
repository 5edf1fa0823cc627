import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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

test("takeStateFolder remembers the port, and not the kubeconfig of a server that has ended", () => {
  const file = join(folder, "kubeconfig");
  {
    using state = takeStateFolder(folder);
    expect([state.port, state.kubeconfig]).toEqual([0, file]);
    state.writeKubeconfig("mine", 41_503);
    expect(readFileSync(file, "utf8")).toBe("mine");
  }
  expect(existsSync(file)).toBe(false);
  // A process that was killed could not remove its own.
  writeFileSync(file, "stale");
  using again = takeStateFolder(folder);
  expect([again.port, existsSync(file)]).toEqual([41_503, false]);
});

test("takeStateFolder leaves no kubeconfig when the process exits at once", async () => {
  const module = join(import.meta.dirname, "state-folder.ts");
  const code = `const s = (await import(${JSON.stringify(module)})).takeStateFolder(${JSON.stringify(folder)}); s.writeKubeconfig("mine", 1); process.exit(3)`;
  expect(await Bun.spawn([process.execPath, "-e", code]).exited).toBe(3);
  expect([existsSync(join(folder, "port")), existsSync(join(folder, "kubeconfig"))]).toEqual([true, false]);
});

test("takeStateFolder says when it cannot make the folder", () => {
  const path = join(folder, "taken");
  writeFileSync(path, "");
  expect(() => takeStateFolder(path)).toThrow(
    `Cannot keep the cluster's state in ${path}: a file with that name exists`,
  );
});

test("takeStateFolder follows no link that somebody laid into it", () => {
  const path = join(folder, ".binnacle");
  const victim = join(folder, "victim");
  writeFileSync(victim, "mine");
  mkdirSync(path);
  symlinkSync(victim, join(path, "pid"));
  symlinkSync(join(folder, "made"), join(path, ".gitignore"));
  takeStateFolder(path)[Symbol.dispose]();
  expect(readFileSync(victim, "utf8")).toBe("mine");
  expect(existsSync(join(folder, "made"))).toBe(false);
  expect(readFileSync(join(path, "pid"), "utf8")).toBe(String(process.pid));
  expect(readFileSync(join(path, ".gitignore"), "utf8")).toBe("*\n");
});

test("takeStateFolder takes no folder, lock or data that leads elsewhere", () => {
  mkdirSync(join(folder, "elsewhere"));
  const linked = join(folder, "linked");
  symlinkSync(join(folder, "elsewhere"), linked);
  expect(() => takeStateFolder(linked)).toThrow(
    `Cannot keep the cluster's state in ${linked}: it is a link. Remove it`,
  );
  expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
  for (const name of ["lock", "data"]) {
    const path = join(folder, `with-${name}`);
    mkdirSync(path);
    symlinkSync(join(folder, "elsewhere", name), join(path, name));
    expect(() => takeStateFolder(path)).toThrow(
      `Cannot keep the cluster's state in ${path}: ${name} is a link. Remove it`,
    );
    expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
  }
});

test("takeStateFolder keeps the folder to this user", () => {
  const path = join(folder, ".binnacle");
  mkdirSync(path, { mode: 0o777 });
  chmodSync(path, 0o777);
  takeStateFolder(path)[Symbol.dispose]();
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("dev without modules says so, and leaves no kubeconfig", () => {
  const main = join(import.meta.dirname, "../main.ts");
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, main, "dev"], { cwd: folder });
  expect([exitCode, stderr.toString()]).toEqual([
    1,
    "binnacle: Cannot find the controllers folder './controllers': create it, or name another with --controllers\n",
  ]);
  expect(existsSync(join(folder, ".binnacle/kubeconfig"))).toBe(false);
});
