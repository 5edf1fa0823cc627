import { describe, expect, test } from "bun:test";
import { assert, nat, property, uniqueArray } from "fast-check";
import { Indexes } from "./indexes.ts";

const sets = uniqueArray(nat(30), { maxLength: 20 });
const sorted = (values: Iterable<number>): number[] => [...new Set(values)].sort((a, b) => a - b);
const members = (indexes: Indexes): number[] =>
  Array.from({ length: 40 }, (_, index) => index).filter((one) => indexes.has(one));

describe("Indexes", () => {
  test.each([
    [[], ""],
    [[3], "3"],
    [[3, 4], "3,4"],
    [[5, 3, 4], "3-5"],
    [[0, 1, 2, 7, 9, 10], "0-2,7,9,10"],
  ])("%p is written %p", (values, text) => {
    expect(Indexes.of(values).toString()).toBe(text);
    expect(members(Indexes.parse(text, 40))).toEqual(sorted(values));
  });

  test("parse leaves out what is not below completions, and what is no number", () => {
    expect(Indexes.parse("1,x,3-9,12", 6).toString()).toBe("1,3-5");
  });

  test("has, size, with, overlap and missing are those of sets", () => {
    assert(
      property(sets, sets, nat(10), (a, b, count) => {
        const [one, other] = [Indexes.of(a), Indexes.of(b)];
        expect(members(one)).toEqual(sorted(a));
        expect(one.size).toBe(a.length);
        expect(members(one.with(other))).toEqual(sorted([...a, ...b]));
        expect(one.overlap(other)).toBe(a.filter((value) => b.includes(value)).length);
        const free = Array.from({ length: 31 }, (_, index) => index).filter((index) => !a.includes(index));
        expect(one.missing(count, 31)).toEqual(free.slice(0, count));
        expect(Indexes.parse(one.toString(), 31).toString()).toBe(one.toString());
      }),
    );
  });
});
