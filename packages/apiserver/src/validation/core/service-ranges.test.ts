import { assert, integer, property, record } from "fast-check";
import { expect, test } from "bun:test";
import { serviceRanges } from "./service-ranges.ts";

test("a range holds the addresses that it gives, and no others", () => {
  const range = record({ start: integer({ min: 0, max: 2 ** 32 - 1 }), bits: integer({ min: 12, max: 30 }) });
  assert(
    property(range, integer({ min: 0 }), ({ start, bits }, step) => {
      const network = [24, 16, 8, 0].map((shift) => (start >>> shift) & 255).join(".");
      const { addressAt, holds, size, addresses } = serviceRanges({ addresses: `${network}/${bits}` });
      expect(size).toBe(2 ** (32 - bits));
      expect(addresses).toBe(`${addressAt(0)}/${bits}`);
      for (const index of [0, step % size, size - 1]) expect(holds(addressAt(index))).toBe(true);
      for (const index of [-1, size]) expect(holds(addressAt(index))).toBe(false);
    }),
  );
  const { holds } = serviceRanges({});
  expect(["10.96.1.1", "::ffff:10.96.1.1", "", "10.96.1", "10.96.1.256"].map((text) => holds(text))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test.each(["", "10.0.0.0", "10.0.0.0/8", "10.0.0.0/31", "300.0.0.0/16", "fd00::/108", "10.0.0.0/x"])(
  "%j is no range of addresses",
  (addresses) => {
    expect(() => serviceRanges({ addresses })).toThrow("a range of IPv4 addresses");
  },
);

test.each([
  [0, 1],
  [2, 1],
  [1, 65_536],
  [-1, -1],
] as const)("%d to %d is no range of ports", (first, last) => {
  expect(() => serviceRanges({ ports: [first, last] })).toThrow("a range between 1 and 65535");
});
