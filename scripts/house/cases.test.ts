/** Tests that the table of cases in `designs/005-watching.md` agrees with the tests. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const design = await Bun.file(join(root, "designs/005-watching.md")).text();

test("each case that the design calls passed has a test whose name begins with its ID", async () => {
  const [, passed = ""] = /Passed: ([^.]+)\./.exec(design) ?? [];
  const ids = passed.split("·").flatMap((group) => {
    const [, name, numbers = ""] = /^\s*([A-Z]+)-([\d,\s]+)$/.exec(group)!;
    return numbers.split(",").map((number) => `${name}-${number.trim()}`);
  });
  const tested = new Set<string>();
  for (const folder of ["src", "scripts"]) {
    for await (const file of new Bun.Glob("**/*.test.ts").scan(join(root, folder))) {
      const text = await Bun.file(join(root, folder, file)).text();
      for (const [, names = ""] of text.matchAll(/["'`]((?:[A-Z]+-\d+ )+)/g)) {
        for (const id of names.trim().split(" ")) tested.add(id);
      }
    }
  }
  expect(ids.length).toBeGreaterThan(70);
  expect(ids.filter((id) => !tested.has(id))).toEqual([]);
});
