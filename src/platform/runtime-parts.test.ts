/** What the runtimes' parts guarantee that have no test of their own; the suite runs this on each of them. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompress, zstdDecompress } from "#runtime/compression";
import { openDatabase } from "#runtime/database";
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

test("openDatabase keeps rows, a transaction happens as a whole, and a lock is another's obstacle", () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-database-"));
  try {
    const file = join(folder, "a.sqlite");
    const database = openDatabase(file);
    database.run("CREATE TABLE pair (key TEXT PRIMARY KEY, value INTEGER)");
    const put = database.query("INSERT INTO pair (key, value) VALUES (?, ?)");
    const get = database.query<{ readonly value: number }>("SELECT value FROM pair WHERE key = ?");
    const putAll = database.transaction((rows: readonly (readonly [string, number])[]) => {
      for (const row of rows) put.run(...row);
    });
    putAll([
      ["a", 1],
      ["b", 2],
    ]);
    // The second row is there already, so the first one must not stay either.
    const twice = () =>
      putAll([
        ["c", 3],
        ["a", 4],
      ]);
    expect(twice).toThrow();
    expect([get.get("a")?.value, get.get("b")?.value, get.get("c")]).toEqual([1, 2, undefined]);
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
    const other = openDatabase(file);
    other.run("PRAGMA busy_timeout = 0");
    expect(() => other.run("BEGIN EXCLUSIVE")).toThrow();
    database.close();
    other.run("BEGIN EXCLUSIVE");
    expect(other.query<{ readonly key: string }>("SELECT key FROM pair ORDER BY key").all()).toHaveLength(2);
    other.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
