import { expect, test } from "bun:test";
import { array, assert, constant, integer, oneof, property, record } from "fast-check";
import { type ReadyItem, ReadyItems } from "./ready-items.ts";

const item = (order: number): ReadyItem => ({ order, place: -1, priority: 0 });

test("ReadyItems gives items by order, whichever way they came, also past those that were removed", () => {
  const line = new ReadyItems();
  const items = [1, 2, 5, 3, 4].map(item);
  for (const one of items) line.push(one);
  line.remove(items[1]!);
  line.remove(items[3]!);
  expect([line.take()?.order, line.take()?.order, line.take()?.order, line.take()]).toEqual([1, 4, 5, undefined]);
});

test("ReadyItems of one priority are what a sorted array would be, after any pushes, pops and removals, and however long", () => {
  const step = oneof(
    { weight: 5, arbitrary: constant({ kind: "push" as const }) },
    record({ kind: constant("late" as const), back: integer({ min: 1, max: 10 }) }),
    record({ kind: constant("remove" as const), at: integer({ min: 0, max: 50 }) }),
    { weight: 3, arbitrary: constant({ kind: "pop" as const }) },
  );
  assert(
    property(array(step, { maxLength: 200 }), integer({ min: 1, max: 40 }), (steps, times) => {
      const line = new ReadyItems();
      let expected: ReadyItem[] = [];
      let order = 0;
      for (let round = 0; round < times; round++) {
        for (const one of steps) {
          if (one.kind === "pop") expect(line.take()?.order).toBe(expected.shift()?.order);
          else if (one.kind === "remove") {
            const [gone] = expected.splice(one.at % Math.max(1, expected.length), 1);
            if (gone !== undefined) line.remove(gone);
          } else {
            const made = item(
              one.kind === "push" ? (order += 100) : order - one.back * 90 + round / 100 + expected.length / 1e4,
            );
            line.push(made);
            expected = [...expected, made].sort((a, b) => a.order - b.order);
          }
        }
      }
      for (const one of expected) expect(line.take()?.order).toBe(one.order);
      expect(line.take()).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});
