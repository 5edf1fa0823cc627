/** What the runtimes' parts guarantee that have no test of their own; the suite runs this on each of them. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompress, zstdDecompress } from "#runtime/compression";
import { lockFile } from "#runtime/file-lock";
import { fingerprint, sha256 } from "#runtime/digest";
import { satisfies } from "#runtime/versions";
import { parseYaml } from "#runtime/yaml";

describe("satisfies", () => {
  const inside: readonly (readonly [string, string])[] = [
    ["1.2.3", "1.2.3"],
    ["1.2.3", "^1.0.0"],
    ["0.2.5", "^0.2.1"],
    ["0.0.3", "^0.0.3"],
    ["1.2.9", "~1.2.3"],
    ["1.2.3", "1.x"],
    ["1.2.3", "1.2"],
    ["1.2.3", "*"],
    ["1.2.3", ">=1.0.0 <2"],
    ["1.2.3", ">= 1.0.0"],
    ["2.0.0", "1.x || 2.x"],
    ["1.5.0", "1.2.3 - 2.0.0"],
    ["1.9.0", "<=1.9"],
    ["3.0.0", ">2"],
  ];
  const outside: readonly (readonly [string, string])[] = [
    ["1.2.3", "1.2.4"],
    ["2.0.0", "^1.0.0"],
    ["0.3.0", "^0.2.1"],
    ["0.0.4", "^0.0.3"],
    ["1.3.0", "~1.2.3"],
    ["2.0.0", "1.x"],
    ["2.0.0", ">=1.0.0 <2"],
    ["2.5.0", ">2 <=2.4"],
    ["2.0.0", ">2"],
  ];
  test("reads the ranges of npm", () => {
    expect(inside.filter(([version, range]) => !satisfies(version, range))).toEqual([]);
    expect(outside.filter(([version, range]) => satisfies(version, range))).toEqual([]);
  });
});

test("sha256 and fingerprint tell texts apart", () => {
  expect(sha256("")).toBe("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
  expect(fingerprint("a")).toBe(fingerprint("a"));
  expect(fingerprint("a")).not.toBe(fingerprint("b"));
});

test("zstd gives back what it was given, and refuses what is none", () => {
  const text = "binnacle ".repeat(10_000);
  const packed = new Uint8Array(zstdCompress(text));
  expect(packed.length).toBeLessThan(1_000);
  expect(Buffer.from(zstdDecompress(packed)).toString()).toBe(text);
  expect(() => zstdDecompress(new Uint8Array([1, 2, 3, 4]))).toThrow();
});

test("parseYaml reads a document, and says in which line a mistake is", async () => {
  expect(await parseYaml("a: 1\nb: [x, 'y']\n")).toEqual({ a: 1, b: ["x", "y"] });
  await expect(parseYaml("a: 1\nb: [x\n")).rejects.toThrow(/line/);
});

test("lockFile gives a file to one at a time, until it is released", () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-lock-"));
  try {
    const file = join(folder, "lock");
    const lock = lockFile(file);
    expect(lock).toBeDefined();
    expect(lockFile(file)).toBeUndefined();
    lock?.[Symbol.dispose]();
    const next = lockFile(file);
    expect(next).toBeDefined();
    next?.[Symbol.dispose]();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
