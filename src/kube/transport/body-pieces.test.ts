import { expect, test } from "bun:test";
import { BodyPieces } from "./body-pieces.ts";

test("BodyPieces puts together what it has taken, and takes no more than it may", () => {
  const pieces = new BodyPieces(2_000);
  expect(pieces.add(new Uint8Array(900).fill(1))).toBe(true);
  expect(pieces.add(new Uint8Array(500).fill(2))).toBe(true);
  expect(pieces.add(new Uint8Array(900).fill(3))).toBe(false);
  expect(pieces.add(new Uint8Array(10).fill(4))).toBe(true);
  expect(pieces.whole()).toEqual(Buffer.concat([Buffer.alloc(900, 1), Buffer.alloc(500, 2), Buffer.alloc(10, 4)]));
});

test("BodyPieces counts what a piece costs beside its bytes, and keeps no large buffer for a small piece", () => {
  const pieces = new BodyPieces(1024 * 1024);
  let taken = 0;
  while (pieces.add(Uint8Array.of(1))) taken++;
  expect(taken).toBeLessThan(5_000);
  const few = new BodyPieces(1024);
  const large = new Uint8Array(100_000);
  few.add(large.subarray(5, 6));
  expect(few.whole().buffer.byteLength).toBe(1);
});
