import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "ci-run-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The last line and the status of `.ci/run` where npm does this. */
async function ended(tests: string, node: string): Promise<readonly [string | undefined, number | null]> {
  const programs = {
    chromium: "",
    go: "",
    node: "",
    npm: `echo "> binnacle"; case $2 in test) ${tests} ;; test:node) ${node} ;; *) echo "0 passed, 0 failed" ;; esac`,
  };
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, name), 0o755);
  }
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
  const run = join(import.meta.dirname, "..", ".ci", "run");
  const { stdout, status } = spawnSync("bash", [run], { env, encoding: "utf8" });
  return [stdout.trim().split("\n").at(-1), status];
}

test.skipIf(process.platform === "win32")("the last line of .ci/run counts all runs, and fails with them", async () => {
  const good = 'echo "5 passed, 0 failed"';
  const skipped = 'echo "0 passed, 0 failed, 1 skipped"';
  expect(await ended(good, skipped)).toEqual(["5 passed, 0 failed, 1 skipped", 0]);
  const partly = 'echo "4 passed, 0 failed, 3 skipped (2 of them for want of a control plane)"';
  expect(await ended(partly, good)).toEqual(["9 passed, 0 failed, 3 skipped", 0]);
  expect(await ended('echo "3 passed, 2 failed"; exit 1', good)).toEqual(["8 passed, 2 failed", 1]);
});

test.skipIf(process.platform === "win32")(
  "a run without its closing line is a failure in that of .ci/run",
  async () => {
    const good = 'echo "5 passed, 0 failed"';
    expect(await ended(good, "exit 1")).toEqual(["5 passed, 1 failed", 1]);
    expect(await ended("kill -9 $$", good)).toEqual(["5 passed, 1 failed", 1]);
    expect(await ended(`${good}; exit 1`, "exit 0")).toEqual(["5 passed, 2 failed", 1]);
  },
);
