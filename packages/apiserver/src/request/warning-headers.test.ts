import { expect, test } from "bun:test";
import { warningHeaders } from "./warning-headers.ts";

test("warningHeaders says each warning once, quoted, and none with control characters", () => {
  expect(warningHeaders(['a "b" \\', "x", "x", "", "two\nlines"])).toEqual(['299 - "a \\"b\\" \\\\"', '299 - "x"']);
});

test("warningHeaders has the bytes of UTF-8", () => {
  expect(warningHeaders(["é"])).toEqual([`299 - "${Buffer.from("é").toString("latin1")}"`]);
});

test("warningHeaders cuts long warnings when they are too long together", () => {
  const [first, second] = ["a".repeat(4000), "b".repeat(300)];
  expect(warningHeaders([first])).toEqual([`299 - "${first}"`]);
  expect(warningHeaders([first, second])).toEqual([`299 - "${"a".repeat(256)}"`, `299 - "${"b".repeat(256)}"`]);
});
