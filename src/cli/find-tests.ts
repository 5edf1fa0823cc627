/** The tests in a folder. */
import { readdirSync, statSync } from "node:fs";
import { join, sep } from "node:path";

/** Every `*.test.ts` and its like below a folder, or the file itself; in order. @throws when there is no such folder. */
export function findTests(folder: string): readonly string[] {
  if (!statSync(folder).isDirectory()) return [folder];
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const tests = names.filter((name) => /\.test\.[cm]?[jt]sx?$/.test(name) && !name.split(sep).includes("node_modules"));
  return tests.map((name) => join(folder, name)).sort();
}
