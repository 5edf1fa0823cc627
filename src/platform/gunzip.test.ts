import { gzipSync } from "node:zlib";
import { expect, test } from "bun:test";
import { BodyTooLarge } from "./bounded-body.ts";
import { gunzip } from "./gunzip.ts";

const zipped = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(gzipSync(bytes, { level: 1 }));

test("gunzip gives what was zipped, whatever it becomes", () => {
  for (const size of [0, 1, 1_000, 1_000_000, 20_000_000]) {
    const bytes = new Uint8Array(size).map((_, index) => (index * index) % 251);
    expect(Buffer.compare(gunzip(zipped(bytes), 2 ** 25), bytes)).toBe(0);
  }
});

test("gunzip ends a bomb, whatever size it claims to have", () => {
  const bomb = zipped(new Uint8Array(2 ** 26));
  expect(bomb.length).toBeLessThan(2 ** 20);
  for (const claimed of [undefined, 0, 10, 2 ** 32 - 1]) {
    if (claimed !== undefined) new DataView(bomb.buffer).setUint32(bomb.length - 4, claimed, true);
    expect(() => gunzip(bomb, 2 ** 20)).toThrow(BodyTooLarge);
  }
  const two = Buffer.concat([zipped(new Uint8Array(2 ** 20)), zipped(new Uint8Array(2 ** 24))]);
  expect(() => gunzip(new Uint8Array(two), 2 ** 21)).toThrow(BodyTooLarge);
});

test("gunzip refuses what is no gzip", () => {
  for (const bytes of [[], [1, 2, 3, 4, 5], [0x1f, 0x8b, 8, 0]])
    expect(() => gunzip(new Uint8Array(bytes), 2 ** 20)).toThrow();
  const large = new Uint8Array(100_000).fill(7);
  expect(() => gunzip(large, 2 ** 20)).toThrow();
});
