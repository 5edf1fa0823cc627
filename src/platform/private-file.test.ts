import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  lstatSync,
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
import { writePrivate } from "./private-file.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "binnacle-private-"))));
afterEach(() => rmSync(folder, { recursive: true }));

test("writePrivate writes a file for this user alone, over one that all could read", () => {
  const file = join(folder, "kubeconfig");
  writeFileSync(file, "old", { mode: 0o644 });
  writePrivate(file, "new");
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["kubeconfig"]);
});

test("writePrivate follows no link, neither in the file's place nor in that of its draft", () => {
  const file = join(folder, "kubeconfig");
  const victim = join(folder, "victim");
  writeFileSync(victim, "mine");
  symlinkSync(victim, file);
  symlinkSync(victim, `${file}.${process.pid}`);
  symlinkSync(join(folder, "made"), `${file}.${process.pid}.tmp`);
  writePrivate(file, "new");
  expect(readFileSync(victim, "utf8")).toBe("mine");
  expect(lstatSync(file).isFile()).toBe(true);
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(readdirSync(folder)).not.toContain("made");
});

test("writePrivate leaves no draft when it fails", () => {
  expect(() => writePrivate(join(folder, "none", "kubeconfig"), "new")).toThrow("ENOENT");
  const taken = join(folder, "taken");
  Bun.spawnSync(["mkdir", "-p", join(taken, "inside")]);
  expect(() => writePrivate(taken, "new")).toThrow();
  expect(readdirSync(folder)).toEqual(["taken"]);
});
