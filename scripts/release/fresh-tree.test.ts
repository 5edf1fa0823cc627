import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoopbackNpm } from "../../tests/support/loopback-npm.ts";
import { bunOf, freshTree } from "./fresh-tree.ts";
import { versionOf } from "./version.ts";

let folder: string;
let root: string;
let npm: LoopbackNpm;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-fresh-tree-"));
  root = join(folder, "project");
  npm = new LoopbackNpm();
  publish("what was published");
  write(".gitignore", "node_modules/\ndist/\n");
  write(".npmrc", `registry=${npm.address}\n`);
  write("package.json", JSON.stringify({ name: "project", version: "1.0.0", dependencies: { parts: "1.0.0" } }));
  write("src/main.ts", "committed");
  write("src/gone.ts", "committed");
  await run(process.execPath, "install");
  await commit();
});
afterEach(async () => {
  await npm[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function write(file: string, text: string, at = root): void {
  mkdirSync(join(at, file, ".."), { recursive: true });
  writeFileSync(join(at, file), text);
}

function publish(content: string): void {
  write("package/package.json", JSON.stringify({ name: "parts", version: "1.0.0" }), folder);
  write("package/index.js", content, folder);
  const archive = join(folder, "parts.tgz");
  expect(spawnSync("tar", ["-czf", archive, "-C", folder, "package"]).status).toBe(0);
  npm.publish(archive);
}

async function run(program: string, ...args: string[]): Promise<void> {
  const env = { ...process.env, BUN_INSTALL_CACHE_DIR: join(folder, "own-cache") };
  const child = Bun.spawn([program, ...args], { cwd: root, env, stdout: "ignore", stderr: "pipe" });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(said);
}

async function commit(): Promise<void> {
  await run("git", "init", "-q");
  await run("git", "add", "-A");
  await run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first");
  await run("git", "tag", "v1.0.0");
}

async function made(): Promise<(file: string) => string | undefined> {
  const tree = join(folder, "tree");
  await freshTree(root, { tree, cache: join(folder, "cache") });
  return (file) => (existsSync(join(tree, file)) ? readFileSync(join(tree, file), "utf8") : undefined);
}

test("a release is made of what the lock file names, whatever lies in node_modules and in caches", async () => {
  write("node_modules/parts/index.js", "tampered with");
  write("node_modules/stowaway/index.js", "nobody named it");
  for (const file of new Bun.Glob("**/index.js").scanSync(join(folder, "own-cache")))
    write(file, "tampered with", join(folder, "own-cache"));
  write("dist/left.ts", "left over");
  const read = await made();
  expect(read("node_modules/parts/index.js")).toBe("what was published");
  expect(read("node_modules/stowaway/index.js")).toBeUndefined();
  expect(read("dist/left.ts")).toBeUndefined();
  expect(read("src/main.ts")).toBe("committed");
  expect(versionOf(join(folder, "tree"))).toBe("1.0.0");
});

test("a package that is not the one of the lock file ends a release", async () => {
  publish("published anew");
  await expect(made()).rejects.toThrow(/^Cannot release: the packages of bun.lock cannot be installed: /);
});

test("a lock file that does not fit package.json ends a release", async () => {
  write("package.json", JSON.stringify({ name: "project", version: "1.0.0", dependencies: {} }));
  await expect(made()).rejects.toThrow(/^Cannot release: the packages of bun.lock cannot be installed: .*frozen/);
});

test("a tree with changes is taken with them, and has the same version", async () => {
  write("src/main.ts", "changed");
  write("src/added.ts", "added");
  unlinkSync(join(root, "src/gone.ts"));
  const read = await made();
  expect(read("src/main.ts")).toBe("changed");
  expect(read("src/added.ts")).toBe("added");
  expect(read("src/gone.ts")).toBeUndefined();
  expect(versionOf(join(folder, "tree"))).toBe(versionOf(root));
  expect(versionOf(root)).toEndWith(".dirty");
});

test("sources without a repository are taken as they are", async () => {
  rmSync(join(root, ".git"), { recursive: true });
  const read = await made();
  expect(read("src/main.ts")).toBe("committed");
  expect(read("node_modules/parts/index.js")).toBe("what was published");
});

test("a tree without the runtime of the lock file releases nothing", () => {
  expect(() => bunOf(root)).toThrow(/^Cannot release: bun\.lock has no Bun /);
});
