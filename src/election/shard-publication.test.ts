import { expect, test } from "bun:test";
import { type Member, nextPublication, type Publication } from "./shard-publication.ts";

const member = (seat: number, identity = `replica-${seat}`): Member => ({ seat, transitions: 1, identity });
const a = member(0);
const b = member(1);
const c = member(2);
const division = (generation: number, ...members: readonly Member[]): Publication => ({ generation, members });

test("nextPublication is the first division of whoever is alone", () => {
  expect(nextPublication({ members: [a], published: [], own: undefined, generation: 0 })).toEqual(division(1, a));
});

test("nextPublication stays what it is while nothing changes", () => {
  const own = division(4, a, b);
  expect(nextPublication({ members: [a, b], published: [own], own, generation: 4 })).toBe(own);
});

test("nextPublication is above all that was published when the members change", () => {
  const next = nextPublication({
    members: [a, b, c],
    published: [division(7, a, b), division(2, c)],
    own: division(4, a, b),
    generation: 4,
  });
  expect(next).toEqual(division(8, a, b, c));
});

test("nextPublication adopts the highest division of the members that another one has published", () => {
  const published = [division(9, a, b), division(8, a, b, c)];
  expect(nextPublication({ members: [a, b], published, own: division(7, a), generation: 7 })).toBe(published[0]!);
});

test("nextPublication gives members that come back a new generation: what they published before does not count again", () => {
  // The first two were alone, and a third came and left: somebody may still work by the division with all three.
  const published = [division(1, a, b)];
  const next = nextPublication({ members: [a, b], published, own: division(2, a, b, c), generation: 2 });
  expect(next).toEqual(division(3, a, b));
});

test("nextPublication does not fall back to a generation below one that was tried", () => {
  const own = division(5, a, b);
  expect(nextPublication({ members: [a, b], published: [own], own, generation: 6 })).toEqual(division(7, a, b));
});

test("nextPublication replaces what another one has published with the same generation for other members", () => {
  const own = division(5, a, b, c);
  const next = nextPublication({ members: [a, b], published: [division(5, a, b)], own, generation: 5 });
  expect(next).toEqual(division(6, a, b));
});
