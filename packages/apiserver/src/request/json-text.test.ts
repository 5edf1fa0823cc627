import { expect, test } from "bun:test";
import { depthProblem, duplicateFields } from "./json-text.ts";

test("duplicateFields names each repeated field once, with its path", () => {
  expect(duplicateFields('{"a":1,"a":2,"a":3,"b":[{"c":1},{"c":1,"c":2}]}')).toEqual(["a", "b[1].c"]);
});

test("depthProblem counts no brackets in strings", () => {
  const deep = (count: number): string => "[".repeat(count) + "]".repeat(count);
  expect(depthProblem(deep(10_000))).toBeUndefined();
  expect(depthProblem(deep(10_001))).toBe("exceeded max depth");
  expect(depthProblem(`["${"[".repeat(20_000)}", "\\"${"{".repeat(20_000)}"]`)).toBeUndefined();
});
