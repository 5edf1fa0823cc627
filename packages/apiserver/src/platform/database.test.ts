import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "#platform/database";

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
