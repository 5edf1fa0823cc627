import { expect, test } from "bun:test";
import { errorText } from "../field-error.ts";
import type { Fields, KindRow } from "../hooks.ts";
import { customSchema } from "./custom.ts";
import { applyDefaults } from "./defaults.ts";
import { prune } from "./prune.ts";
import { validate } from "./validate.ts";

const row = { kind: "Thing", custom: true } as KindRow;

function schemaOf(spec: Fields, more: Fields = {}) {
  return customSchema({ type: "object", properties: { spec: { type: "object", ...spec } }, ...more }, row);
}

function errorsOf(properties: Fields, spec: unknown, old?: unknown): string[] {
  const object = (value: unknown) => ({ apiVersion: "a/v1", kind: "Thing", metadata: { name: "x" }, spec: value });
  const options = old === undefined ? {} : { old: object(old) };
  return validate(schemaOf({ properties }), object(spec), options).map(errorText);
}

test.each<[Fields, unknown, string]>([
  [{ type: "integer" }, "x", 'spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"'],
  [{ type: "integer", minimum: 1 }, 0, "spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1"],
  [{ type: "string", maxLength: 1 }, "ab", "spec.x: Too long: may not be more than 1 byte"],
  [{ type: "string", pattern: "^a$" }, "b", "spec.x: Invalid value: \"b\": spec.x in body should match '^a$'"],
  [{ type: "string", enum: ["z", "a"] }, "b", 'spec.x: Unsupported value: "b": supported values: "z", "a"'],
  [{ type: "string", format: "date" }, "b", 'spec.x: Invalid value: "b": spec.x in body must be of type date: "b"'],
  [{ type: "object", required: ["a"] }, {}, "spec.x.a: Required value"],
  [
    { type: "array", items: { type: "string" }, maxItems: 1 },
    ["a", "b"],
    "spec.x: Too many: 2: must have at most 1 item",
  ],
  [
    { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    ["a", "a"],
    'spec.x[1]: Duplicate value: "a"',
  ],
  [
    { type: "object", properties: { a: { type: "integer" } }, oneOf: [{ required: ["a"] }] },
    {},
    '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
  ],
])("validate words what %j says", (property, value, error) => {
  expect(errorsOf({ x: property }, { x: value })[0]).toBe(error);
});

test("validate runs rules, with their messages, paths and reasons", () => {
  const rules = [
    { rule: "self.min <= self.max", message: "min is above max" },
    {
      rule: "self.min > 0",
      messageExpression: "'not ' + string(self.min)",
      fieldPath: ".min",
      reason: "FieldValueForbidden",
    },
    { rule: "quantity(self.size).isLessThan(quantity('1Gi'))" },
  ];
  const properties = { min: { type: "integer" }, max: { type: "integer" }, size: { type: "string" } };
  const property = { type: "object", properties, "x-kubernetes-validations": rules };
  expect(errorsOf({ x: property }, { x: { min: 1, max: 2, size: "1Mi" } })).toEqual([]);
  expect(errorsOf({ x: property }, { x: { min: 0, max: -1, size: "2Gi" } })).toEqual([
    "spec.x: Invalid value: min is above max",
    "spec.x.min: Forbidden: not 0",
    "spec.x: Invalid value: failed rule: quantity(self.size).isLessThan(quantity('1Gi'))",
  ]);
  expect(errorsOf({ x: property }, { x: { min: 1, max: 2 } })).toEqual([
    `spec.x: Invalid value: "object": no such key: size evaluating rule: ${rules[2]!.rule}`,
  ]);
});

test("validate runs transition rules on updates only, item by item of list maps", () => {
  const grows = { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "shrinks" }] };
  const items = { type: "object", required: ["n"], properties: { n: { type: "string" }, v: grows } };
  const property = { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"] };
  const before = { x: [{ n: "a", v: 5 }] };
  expect(errorsOf({ x: property }, before)).toEqual([]);
  expect(errorsOf({ x: property }, { x: [{ n: "b", v: 1 }] }, before)).toEqual([]);
  expect(errorsOf({ x: property }, { x: [{ n: "b" }, { n: "a", v: 4 }] }, before)).toEqual([
    "spec.x[1].v: Invalid value: 4: shrinks",
  ]);
});

test("validate gives oldSelf as an optional where the rule asks for it", () => {
  const rule = { rule: "!oldSelf.hasValue() || self == oldSelf.value()", optionalOldSelf: true, message: "fixed" };
  const property = { type: "string", "x-kubernetes-validations": [rule] };
  expect(errorsOf({ x: property }, { x: "a" })).toEqual([]);
  expect(errorsOf({ x: property }, { x: "b" }, { x: "a" })).toEqual(['spec.x: Invalid value: "b": fixed']);
});

test("validate leaves alone what an update does not change", () => {
  const properties = { x: { type: "integer", maximum: 1 }, y: { type: "integer" } };
  expect(errorsOf(properties, { x: 5, y: 2 }, { x: 5, y: 1 })).toEqual([]);
  expect(errorsOf(properties, { x: 6 }, { x: 5 })).toHaveLength(1);
});

test("validate does not run rules on objects whose types are wrong", () => {
  const property = { type: "integer", "x-kubernetes-validations": [{ rule: "self > 1" }] };
  expect(errorsOf({ x: property }, { x: "a" })[1]).toStartWith(
    "<nil>: Invalid value: null: some validation rules were",
  );
});

test("prune takes out what the schema does not know and nulls that may not be", () => {
  const schema = schemaOf({
    properties: {
      a: { type: "string" },
      n: { type: "string", nullable: true },
      kept: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        properties: { k: { type: "object", properties: {} } },
      },
    },
  });
  const object: Fields = {
    metadata: { name: "x", foo: 1 },
    spec: { a: null, n: null, b: 1, kept: { z: 1, k: {} } },
    other: 1,
  };
  expect(prune(schema, object)).toEqual({
    unknown: ['unknown field "metadata.foo"', 'unknown field "other"', 'unknown field "spec.b"'],
    error: undefined,
  });
  expect(object).toEqual({ metadata: { name: "x" }, spec: { n: null, kept: { z: 1, k: {} } } });
});

test("applyDefaults fills what is absent, inside defaults too", () => {
  const inner = { type: "object", default: {}, properties: { a: { type: "integer", default: 7 } } };
  const object: Fields = { spec: { list: [{}] } };
  applyDefaults(schemaOf({ properties: { inner, list: { type: "array", items: inner } } }), object);
  expect(object).toEqual({ spec: { inner: { a: 7 }, list: [{ a: 7 }] } });
});

test("a definition may restrict names: the object's, and those of objects inside", () => {
  const metadata = { type: "object", properties: { name: { type: "string", maxLength: 3 } } };
  const inside = { type: "object", "x-kubernetes-embedded-resource": true, properties: { metadata } };
  const schema = customSchema({ type: "object", properties: { metadata, inside } }, row);
  const named = (name: string) => ({ apiVersion: "a/v1", kind: "Thing", metadata: { name, labels: { a: "b" } } });
  const object = { ...named("long"), inside: named("longer") };
  expect(prune(schema, object)).toEqual({ unknown: [], error: undefined });
  expect(validate(schema, object).map(errorText)).toEqual([
    "metadata.name: Too long: may not be more than 3 bytes",
    "inside.metadata.name: Too long: may not be more than 3 bytes",
  ]);
  expect(validate(schema, { ...named("fit"), inside: named("fit") })).toEqual([]);
});
