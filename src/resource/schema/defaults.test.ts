import { describe, expect, test } from "bun:test";
import { assert, property } from "fast-check";
import { z } from "zod";
import { VersionSchema } from "binnacle-apiserver";
import { valuesOf } from "../../testing/conversions/generated-values.ts";
import { defineResource, definitionOf } from "../define.ts";
import { withDefaults } from "./defaults.ts";
import type { StructuralSchema } from "./structural.ts";

const port: StructuralSchema = {
  type: "object",
  properties: { name: { type: "string" }, protocol: { type: "string", default: "TCP" } },
};
const schema: StructuralSchema = {
  type: "object",
  properties: {
    size: { type: "integer", default: 1 },
    note: { type: "string", nullable: true, default: "none" },
    box: { type: "object", default: {}, properties: { wide: { type: "boolean", default: true } } },
    ports: { type: "array", items: port },
    named: { type: "object", additionalProperties: port },
  },
};

describe("withDefaults", () => {
  test("fills in what is missing, also in lists, in maps and in defaults", () => {
    expect(withDefaults<unknown>(schema, { ports: [{ name: "a" }], named: { b: {} } })).toEqual({
      size: 1,
      note: "none",
      box: { wide: true },
      ports: [{ name: "a", protocol: "TCP" }],
      named: { b: { protocol: "TCP" } },
    });
  });

  test("leaves values as they are, and null where it is allowed", () => {
    const value = { size: 2, note: null, box: { wide: false }, other: 1 };
    expect(withDefaults<unknown>(schema, value)).toBe(value);
    expect(withDefaults<unknown>(schema, { ...value, size: null })).toEqual({ ...value, size: 1 });
  });

  test("changes nothing that it was given, and gives out no default twice", () => {
    const value = Object.freeze({ ports: Object.freeze([Object.freeze({})]) });
    const [one, other] = [withDefaults<unknown>(schema, value), withDefaults<unknown>(schema, value)] as {
      box: object;
    }[];
    expect(one).toEqual(other);
    expect(one!.box).not.toBe(other!.box);
    expect(value.ports).toEqual([{}]);
  });

  test("gives what the API server gives, for every object", () => {
    const Shop = defineResource({
      group: "demo.example.com",
      version: "v1",
      kind: "Shop",
      spec: z.object({
        open: z.boolean().default(true),
        hours: z.object({ from: z.int().default(9), to: z.int().optional() }).default({ from: 8 }),
        shelves: z
          .array(z.object({ goods: z.record(z.string(), z.object({ price: z.int().default(1) })) }))
          .default([]),
      }),
    });
    const { spec } = definitionOf(Shop)!.versions[0]!.schema.properties!;
    const partly = { ...spec!, required: [], properties: { ...spec!.properties } };
    const served = new VersionSchema("", spec!);
    assert(
      property(valuesOf(partly), (value) => {
        const expected = served.withDefaults(value as object);
        delete (expected as { metadata?: unknown }).metadata;
        expect(withDefaults(spec!, value)).toEqual(expected);
      }),
    );
  });
});
