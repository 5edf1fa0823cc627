import { expect, test } from "bun:test";
import { Warnings } from "./warnings.ts";

test("Warnings tells each text once, several in one header, and unescapes", () => {
  const told: string[] = [];
  const warnings = new Warnings((text) => told.push(text));
  warnings.see('299 - "v1 is deprecated", 299 - "say \\"hello\\", please"');
  warnings.see('299 - "v1 is deprecated"');
  warnings.see('199 - "not one of ours"');
  expect(told).toEqual(["v1 is deprecated", 'say "hello", please']);
});
