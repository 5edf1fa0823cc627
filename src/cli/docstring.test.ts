import { expect, test } from "bun:test";
import { docstring } from "./docstring.ts";

test.each([
  ["", ""],
  ["One thing", "/** One thing. */\n"],
  ["One. Two. Three.", "/** One. Two. */\n"],
  [`One. ${"Long ".repeat(50)}.`, "/** One. */\n"],
  ["Some, e.g. These, are kept together. Two", "/** Some, e.g. These, are kept together. Two. */\n"],
  ["Policy.\n\nPossible enum values:\n - `A` means a", "/** Policy. */\n"],
  ["May be:\n - a\n - b", "/** May be. */\n"],
  ["Ends a */ comment", "/** Ends a *\\/ comment. */\n"],
  ["Spec. More info: https://k8s.io/docs/x/", "/**\n * Spec.\n * @see https://k8s.io/docs/x/\n */\n"],
  ["Meta. More info: https://git.k8s.io/x/api-conventions.md#metadata", "/** Meta. */\n"],
])("docstring keeps what helps: %p", (description, expected) => {
  expect(docstring(description, "")).toBe(expected);
});

test("docstring wraps at the line width", () => {
  const lines = docstring("word ".repeat(60), "  ").split("\n");
  expect(lines.length).toBeGreaterThan(3);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
});
