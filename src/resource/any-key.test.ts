import { expect, test } from "bun:test";
import { ownField, setField } from "./any-key.ts";
import { sameJson } from "./json.ts";
import { completed, isComplete } from "./schema/completion.ts";

const NAMES = ["constructor", "toString", "__proto__", "hasOwnProperty"];

test("a map has the entries that were set, and no others", () => {
  const map = {};
  for (const name of NAMES) expect(ownField(map, name)).toBeUndefined();
  for (const name of NAMES) setField(map, name, name);
  expect(JSON.stringify(map)).toBe(JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, name]))));
  for (const name of NAMES) expect(ownField(map, name)).toBe(name);
  expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
});

test("maps are equal when their own entries are", () => {
  const parsed = (text: string): unknown => JSON.parse(text);
  for (const name of NAMES) {
    for (const value of ["{}", '"a"', "null"]) {
      const one = parsed(`{"${name}":${value}}`);
      expect(sameJson(one, parsed(`{"${name}":${value}}`))).toBe(true);
      for (const other of ["{}", '{"x":{}}', `{"${name}":5}`]) {
        expect(sameJson(one, parsed(other))).toBe(false);
        expect(sameJson(parsed(other), one)).toBe(false);
      }
    }
  }
});

test("a field that is missing gets its default, whatever its name is", () => {
  const schema = { type: "object", properties: { constructor: { type: "string", default: "made" } } } as const;
  expect(isComplete(schema, {})).toBe(false);
  expect(completed(schema, {}, { variant: 0, otherDefaults: false })).toEqual({ constructor: "made" } as object);
});
