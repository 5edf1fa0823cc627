import { afterAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const dir = mkdtempSync(join(tmpdir(), "binnacle-setup-"));
afterAll(() => rmSync(dir, { recursive: true }));

function setup(project: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["node", join(project, "scripts", "setup.mjs"), ...args], {
    env: { PATH: process.env.PATH, HOME: dir },
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

test("setup refuses a task it does not know", () => {
  const { exitCode, stderr } = setup(root, "deploy");
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'Cannot run "deploy": there is start, test, build\n' });
});

test("setup refuses a lock file with addresses before it installs anything", () => {
  mkdirSync(join(dir, "scripts"));
  copyFileSync(join(root, "scripts", "setup.mjs"), join(dir, "scripts", "setup.mjs"));
  copyFileSync(join(root, "package.json"), join(dir, "package.json"));
  writeFileSync(join(dir, "bun.lock"), '{\n"x": ["x@1", "https://registry.test/x.tgz"]\n}\n');
  const { exitCode, stderr } = setup(dir, "build");
  expect(exitCode).toBe(1);
  expect(stderr).toStartWith("bun.lock:2 carries a download address");
});

test("setup does nothing but start the task when all is there", () => {
  const start = performance.now();
  const { exitCode, stderr } = setup(root, "test", "no-such-step");
  expect(exitCode).toBe(2);
  expect(stderr).toStartWith("There is no step no-such-step");
  expect(performance.now() - start).toBeLessThan(2_000);
});
