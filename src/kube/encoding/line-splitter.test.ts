import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { array, assert, nat, property, string } from "fast-check";
import { LineSplitter } from "./line-splitter.ts";

function split(chunks: readonly Uint8Array[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter({ what: "it", most: 2 ** 24, onLine: (line) => lines.push(line) });
  for (const chunk of chunks) splitter.push(chunk);
  return lines;
}

test("LineSplitter gives the same lines wherever the bytes are cut", () => {
  const line = string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((text) => !text.includes("\n"));
  assert(
    property(array(line, { maxLength: 20 }), array(nat(2_000), { maxLength: 20 }), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      expect(split(chunks)).toEqual(lines);
    }),
  );
});

test("LineSplitter joins a line of several MiB and tells empty lines", () => {
  const long = "é".repeat(2 ** 20);
  const bytes = Buffer.from(`\n${long}\n\nb\nrest`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_537) }, (_, i) =>
    bytes.subarray(i * 65_537, (i + 1) * 65_537),
  );
  expect(split(chunks)).toEqual(["", long, "", "b"]);
});

test("LineSplitter gives up a line without an end, also one that comes byte by byte", () => {
  const splitter = (most: number): LineSplitter => new LineSplitter({ what: "the watch of /x", most, onLine() {} });
  const few = splitter(2 ** 20);
  const push = (): void => few.push(new Uint8Array(65_536).fill(0x61));
  for (let i = 0; i < 16; i++) push();
  expect(push).toThrow("Cannot read the watch of /x: a line of it is longer than 1 MiB");
  const many = splitter(2 ** 22);
  const one = Uint8Array.of(0x61);
  const heap = (): number => {
    Bun.gc(true);
    return heapStats().heapSize;
  };
  const before = heap();
  for (let i = 0; i < 2 ** 22; i++) many.push(one);
  const after = heap();
  expect(many.rest).toHaveLength(2 ** 22);
  // Pieces that are typed arrays of their own would take half a gigabyte.
  expect(after - before).toBeLessThan(2 ** 28);
});
