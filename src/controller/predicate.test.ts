import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { all, any, type Change, changed, none } from "./predicate.ts";

const object = (metadata: object, spec: unknown = {}): AnyObject =>
  ({ apiVersion: "v1", kind: "Thing", metadata: { name: "a", ...metadata }, spec }) as unknown as AnyObject;
const update = (next: AnyObject, old?: AnyObject): Change<AnyObject> => ({ type: "update", object: next, old });

test("PRED-01 generation passes an update only when the generation changed, and all that is not an update", () => {
  expect(changed.generation(update(object({ generation: 1 }), object({ generation: 1 })))).toBe(false);
  expect(changed.generation(update(object({ generation: 2 }), object({ generation: 1 })))).toBe(true);
  expect(changed.generation(update(object({ generation: 2 })))).toBe(false);
  for (const type of ["create", "delete", "generic"] as const) {
    expect(changed.generation({ type, object: object({ generation: 1 }) })).toBe(true);
  }
});

test.each(["labels", "annotations"] as const)("PRED-02 %s passes a value changed, added or removed", (field) => {
  const passes = (next?: object, old?: object): boolean =>
    changed[field](update(object({ [field]: next }), object({ [field]: old })));
  expect(passes({ a: "1" }, { a: "2" })).toBe(true);
  expect(passes({ a: "1" }, {})).toBe(true);
  expect(passes(undefined, { a: "1" })).toBe(true);
  expect(passes({ a: "1" }, { a: "1" })).toBe(false);
  expect(passes({}, undefined)).toBe(false);
  expect(passes({ constructor: "1" }, { a: "1" })).toBe(true);
});

test("path passes a change of the one field", () => {
  const size = changed.path("spec.size");
  expect(size(update(object({}, { size: 1, other: 1 }), object({}, { size: 1, other: 2 })))).toBe(false);
  expect(size(update(object({}, { size: 1 }), object({}, { size: 2 })))).toBe(true);
  expect(size(update(object({}, null), object({}, { size: 2 })))).toBe(true);
});

test("SRC-02 all stops at the first filter that refuses; any and none combine", () => {
  let asked = 0;
  const yes = (): boolean => true;
  const no = (): boolean => false;
  const counted = (): boolean => (asked++, true);
  const change = update(object({}), object({}));
  expect(all(yes, no, counted)(change)).toBe(false);
  expect(asked).toBe(0);
  expect(any(no, yes)(change)).toBe(true);
  expect(any(no, no)(change)).toBe(false);
  expect(none(no, no)(change)).toBe(true);
  expect(none(no, yes)(change)).toBe(false);
});
