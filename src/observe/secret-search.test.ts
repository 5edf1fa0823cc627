import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { INSTEAD_OF_TEXT, SecretSearch } from "./secret-search.ts";

const INSTEAD_OF_SECRET = "[redacted]";
const seed = Number(process.env["SECRET_SEARCH_SEED"] ?? 26);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

function searching(...values: readonly string[]): SecretSearch {
  const search = new SecretSearch();
  for (const value of values) search.add(value);
  return search;
}

/** The spellings that a text may have of a value, without those that are too short. */
function spellings(value: string): string[] {
  return [value, value.trim()]
    .filter(({ length }) => length >= 8)
    .flatMap((text) => [
      text,
      JSON.stringify(text).slice(1, -1),
      encodeURIComponent(text.toWellFormed()),
      base64(text).replace(/={1,2}$/, ""),
      Buffer.from(text).toString("base64url"),
    ]);
}

/** Replaces what the values cover, character by character. */
function covered(text: string, values: readonly string[]): string {
  const ends = new Map<number, number>();
  for (const spelled of values.flatMap(spellings)) {
    for (let at = text.indexOf(spelled); at >= 0; at = text.indexOf(spelled, at + 1)) {
      ends.set(at, Math.max(ends.get(at) ?? 0, at + spelled.length));
    }
  }
  let [clean, done] = ["", 0];
  for (let at = 0; at < text.length; at++) {
    const end = ends.get(at);
    if (end !== undefined && at >= done) clean += INSTEAD_OF_SECRET;
    done = Math.max(done, end ?? 0);
    if (at >= done) clean += text[at];
  }
  return clean;
}

describe("SecretSearch", () => {
  test("clean leaves out exactly what a search for each spelling of each value would find", () => {
    // Few letters, so that values begin alike, overlap, and are parts of one another.
    const value = fc.oneof(
      fc.string({ unit: fc.constantFrom("a", "b", '"', " ", "é", "😀"), minLength: 4, maxLength: 14 }),
      fc.string({ unit: fc.constantFrom("a", "b"), minLength: 60, maxLength: 70 }),
    );
    const scene = fc.array(value, { maxLength: 6 }).chain((values) => {
      const piece = fc.oneof(
        fc.string({ unit: fc.constantFrom("a", "b", " ", "é"), maxLength: 12 }),
        ...(values.length === 0 ? [] : [fc.constantFrom(...values.flatMap((one) => [one, ...spellings(one)]))]),
      );
      return fc.record({ values: fc.constant(values), text: fc.array(piece).map((pieces) => pieces.join("")) });
    });
    fc.assert(
      fc.property(scene, ({ values, text }) => {
        expect(searching(...values).clean(text)).toBe(covered(text, values));
      }),
      { seed, numRuns: 3_000 },
    );
  });

  test.each([
    ["one that is longer than what is looked for first", `${"a".repeat(200)}b`],
    [
      "one that is as large as a Secret may be",
      Array.from({ length: 150_000 }, (_, index) => String(index).padStart(7, "-")).join(""),
    ],
    ["one with characters of several bytes", "é😀".repeat(60)],
  ])("clean finds %s, in every spelling", (_, value) => {
    for (const spelled of spellings(value)) {
      const said = searching(value).clean(`login ${spelled} refused`);
      expect(said).toBe("login [redacted] refused");
    }
    expect(searching(value).clean(`login ${value.slice(0, 100)} refused`)).toContain(value.slice(0, 100));
  });

  test("clean leaves nothing of a value within which a text is cut", () => {
    const value = "0123456789-secret-9876543210";
    for (let more = 0; more <= value.length; more++) {
      const said = searching(value).clean(`${"x".repeat(100)}${value.slice(0, more)}`, true);
      expect(said.replace(/^x+/, "")).toBeOneOf(["", INSTEAD_OF_SECRET]);
    }
  });

  test("clean leaves out the text when the values that it would have to compare are too many", () => {
    const search = searching(...Array.from({ length: 5_000 }, (_, index) => `aaaaaaaaaaaa${index}`));
    expect(search.clean("aaaaaaaaaaaa77 is wrong")).toBe("[redacted] is wrong");
    const began = performance.now();
    expect(search.clean("a".repeat(65_000))).toBe(INSTEAD_OF_TEXT);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
