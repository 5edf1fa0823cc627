import { afterEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sourceOf, versionOf } from "./version.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "binnacle-version-"));
  folders.push(dir);
  writeFileSync(join(dir, "package.json"), JSON.stringify({ version: "0.4.0" }));
  return dir;
}

function git(dir: string, ...args: readonly string[]): string {
  const own = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
  const { status, stdout, stderr } = spawnSync("git", [...own, ...args], { cwd: dir, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

function commit(dir: string, text: string): string {
  writeFileSync(join(dir, "file"), text);
  git(dir, "add", "-A");
  git(dir, "commit", "-qm", text);
  return git(dir, "rev-parse", "--short=12", "HEAD");
}

function repository(): string {
  const dir = folder();
  git(dir, "init", "-q");
  return dir;
}

test("versionOf gives the tag of a clean tree as it is, without its v", () => {
  const dir = repository();
  commit(dir, "one");
  git(dir, "tag", "v1.2.3-rc.1");
  expect(versionOf(dir)).toBe("1.2.3-rc.1");
  git(dir, "tag", "v1.2.3");
  git(dir, "tag", "vanilla");
  expect(versionOf(dir)).toBe("1.2.3");
  expect(sourceOf(dir)).toMatchObject({ tag: "v1.2.3", isClean: true });
});

test("versionOf orders what comes after a release between it and the next one", () => {
  const dir = repository();
  commit(dir, "one");
  git(dir, "tag", "v1.2.3");
  const second = commit(dir, "two");
  expect(versionOf(dir)).toBe(`1.2.4-dev.1+${second}`);
  expect(Bun.semver.order(versionOf(dir), "1.2.3")).toBe(1);
  expect(Bun.semver.order(versionOf(dir), "1.2.4")).toBe(-1);
  git(dir, "tag", "v1.3.0-rc.1");
  const third = commit(dir, "three");
  expect(versionOf(dir)).toBe(`1.3.0-rc.1.dev.1+${third}`);
  expect(Bun.semver.order(versionOf(dir), "1.3.0-rc.1")).toBe(1);
});

test("versionOf says of a changed tree that it is no release, and of which commit it was", () => {
  const dir = repository();
  const first = commit(dir, "one");
  git(dir, "tag", "v1.2.3");
  writeFileSync(join(dir, "file"), "changed");
  expect(versionOf(dir)).toBe(`1.2.4-dev.0+${first}.dirty`);
  git(dir, "checkout", "-q", "file");
  writeFileSync(join(dir, "new"), "not added");
  expect(versionOf(dir)).toBe(`1.2.4-dev.0+${first}.dirty`);
});

test("versionOf counts from package.json without a tag, and says the same for every checkout of a commit", () => {
  const dir = repository();
  commit(dir, "one");
  const second = commit(dir, "two");
  expect(versionOf(dir)).toBe(`0.4.0-dev.2+${second}`);
  const clone = folder();
  rmSync(clone, { recursive: true });
  git(dir, "clone", "-q", dir, clone);
  expect(versionOf(clone)).toBe(versionOf(dir));
});

test("versionOf takes package.json where there is no repository, and where it is somebody else's", () => {
  expect(versionOf(folder())).toBe("0.4.0");
  const outer = repository();
  commit(outer, "one");
  git(outer, "tag", "v9.9.9");
  const inner = join(outer, "vendored");
  mkdirSync(inner);
  writeFileSync(join(inner, "package.json"), JSON.stringify({ version: "0.5.0" }));
  expect(versionOf(inner)).toBe("0.5.0");
  expect(sourceOf(inner)).toBeUndefined();
});
