/** How a release is put in its place. What is in one is in scripts/acceptance. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseTarget } from "../../src/build/executable/targets.ts";
import { makeRelease } from "./make.ts";

let output: string;
beforeAll(() => {
  output = mkdtempSync(join(tmpdir(), "binnacle-make-"));
});
afterAll(() => rmSync(output, { recursive: true }));

/** The least that is an executable for Windows. */
function executable(): Buffer {
  const bytes = Buffer.alloc(4096);
  bytes.write("MZ", 0, "latin1");
  bytes.writeUInt32LE(128, 0x3c);
  bytes.write("PE\0\0", 128, "latin1");
  bytes.writeUInt16LE(0x8664, 132);
  return bytes;
}

function make(): Promise<string> {
  return makeRelease({
    version: "1.2.3",
    source: undefined,
    targets: [parseTarget("windows-x64")!],
    packages: [],
    output,
    level: 1,
    orders: [],
    executableFor: async (_target, aside) => {
      writeFileSync(join(aside, "binary"), executable());
      return join(aside, "binary");
    },
    say() {},
  });
}

test("a release that ended before anything led to it is finished by the next run, and then does not change", async () => {
  // What stands in the way of the installer ends the first run between the folder and the files that lead to it.
  mkdirSync(join(output, "install.sh"));
  await expect(make()).rejects.toThrow();
  const folder = join(output, "v1.2.3");
  const before = statSync(join(folder, "SHA256SUMS")).mtimeMs;
  rmSync(join(output, "install.sh"), { recursive: true });
  expect(await make()).toBe(folder);
  expect(readFileSync(join(output, "latest"), "utf8")).toBe("1.2.3\n");
  expect(readFileSync(join(output, "install.sh"), "utf8")).toStartWith("#!/bin/sh");
  expect(statSync(join(folder, "SHA256SUMS")).mtimeMs).toBe(before);
  expect(readdirSync(output).sort()).toEqual(["install.sh", "latest", "v1.2.3"]);
  await expect(make()).rejects.toThrow(/^Cannot release 1\.2\.3: .* is there already/);
});
