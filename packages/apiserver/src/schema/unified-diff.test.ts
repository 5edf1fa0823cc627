import { expect, test } from "bun:test";
import { unifiedDiff } from "./unified-diff.ts";

test("unifiedDiff shows three lines around each change", () => {
  const before = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const after = before.with(4, "E");
  expect(unifiedDiff(before.join("\n"), after.join("\n"))).toBe("@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n");
  expect(unifiedDiff("a\nb", "a\nb\nc")).toBe("@@ -1,2 +1,3 @@\n a\n b\n+c\n");
  expect(unifiedDiff("a", "a")).toBe("");
});
