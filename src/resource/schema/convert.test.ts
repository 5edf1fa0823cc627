import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { convertField } from "./convert.ts";

const converted = (schema: z.ZodType) => convertField(schema, "spec.a").schema;

interface Node {
  readonly next?: Node | undefined;
}
const node: z.ZodType<Node> = z.object({
  get next() {
    return node.optional();
  },
});
const endless = (): z.ZodType => z.object({ a: z.lazy(endless) });

describe("convertField refuses with advice", () => {
  const cases: Readonly<Record<string, readonly [z.ZodType, string]>> = {
    tuple: [z.tuple([z.string()]), "spec.a: the API server has no tuples: use z.object() with named fields"],
    recursion: [node, "spec.a.next: the API server has no recursive schemas: use z.unknown()"],
    "endless recursion": [endless(), "the API server has no recursive schemas"],
    json: [z.json(), "no recursive schemas"],
    "look-ahead": [z.string().regex(/(?=a)b/), "(RE2) have no look-ahead as in /(?=a)b/"],
    "look-behind": [z.string().regex(/(?<!a)b/), "(RE2) have no look-behind"],
    "back-reference": [z.string().regex(/(a)\1/), "have no a back-reference"],
    "named back-reference": [z.string().regex(/(?<x>a)\k<x>/), "have no a back-reference"],
    "long repetition": [z.string().regex(/a{1001}/), "the repetition {1001} above 1000"],
    emoji: [z.emoji(), "RE2"],
    coerce: [z.coerce.number(), "spec.a: z.coerce does not happen in the API server: use z.number() or z.int()"],
    "coerced text": [z.coerce.string(), "use z.string()"],
    "coerced boolean": [z.coerce.boolean(), "use z.boolean()"],
    trim: [z.string().trim(), ".trim(), .toLowerCase(), .normalize() and other changes"],
    toLowerCase: [z.string().toLowerCase(), ".toLowerCase()"],
    refine: [
      z.string().refine((text) => text !== "x"),
      ".refine(), .superRefine() and .check() run in JavaScript only",
    ],
    "refined object": [z.object({}).refine(() => true), "`rules: [{ rule, message }]`"],
    superRefine: [z.object({}).superRefine(() => undefined), ".refine()"],
    "refined optional": [
      z
        .string()
        .optional()
        .refine(() => true),
      ".refine()",
    ],
    transform: [z.string().transform(Number), "keep the wire form"],
    pipe: [z.string().pipe(z.email()), "keep the wire form"],
    preprocess: [z.preprocess(String, z.string()), "keep the wire form"],
    stringbool: [z.stringbool(), "keep the wire form"],
    catch: [z.string().catch("x"), ".catch() does not happen in the API server: use .default()"],
    date: [z.date(), "JSON has no dates: use z.iso.datetime()"],
    bigint: [z.bigint(), "use z.int()"],
    int64: [z.int64(), "use z.int()"],
    map: [z.map(z.string(), z.string()), "use z.record(z.string(), …)"],
    set: [z.set(z.string()), 'use z.array(…).meta({ listType: "set" })'],
    symbol: [z.symbol(), "JSON has no symbol"],
    promise: [z.promise(z.string()), "JSON has no promise"],
    file: [z.file(), "JSON has no file"],
    nan: [z.nan(), "JSON has no NaN"],
    null: [z.null(), "use .nullable() on a type"],
    undefined: [z.undefined(), "use .optional() on a type"],
    never: [z.never(), "leave the field out"],
    custom: [z.custom<string>(() => true), "z.custom() and z.instanceof() run in JavaScript only"],
    jwt: [z.jwt(), 'cannot check the format "jwt"'],
    httpUrl: [z.httpUrl(), "use z.url().regex("],
    "plain union": [z.union([z.string(), z.boolean()]), "only string with integer"],
    "string or number": [z.union([z.string(), z.number()]), "z.union([z.string(), z.int()])"],
    "union of objects": [z.union([z.object({}), z.object({ a: z.int() })]), 'z.discriminatedUnion("type", […])'],
    "default in a union": [z.union([z.string().default("a"), z.int()]), "put .default() on the union"],
    "mixed literals": [z.literal(["a", 1]), "must all be strings, all numbers or all booleans"],
    "default that differs": [z.number().default(() => Math.random()), "a default must be one JSON value"],
    "default that does not fit": [z.int().min(3).default(1), "the default 1 does not fit the schema: Too small"],
    "default of null": [z.string().nullable().default(null), "does not set a default of null"],
    "keys of a map": [z.record(z.string().min(1), z.int()), "does not check the keys of a map"],
    "catchall beside fields": [z.object({ a: z.int() }).catchall(z.string()), "both named fields and .catchall()"],
    "branch default": [
      z.discriminatedUnion("t", [
        z.object({ t: z.literal("a"), n: z.int().default(1) }),
        z.object({ t: z.literal("b") }),
      ]),
      "spec.a.n: the API server would set this default in every option",
    ],
    "branch conflict": [
      z.discriminatedUnion("t", [
        z.object({ t: z.literal("a"), n: z.int() }),
        z.object({ t: z.literal("b"), n: z.string() }),
      ]),
      "spec.a.n: this field has different schemas",
    ],
    "list map without keys": [z.array(z.object({})).meta({ listType: "map" }), "needs 'listMapKeys'"],
    "list map with an optional key": [
      z.array(z.object({ a: z.string().optional() })).meta({ listType: "map", listMapKeys: ["a"] }),
      "the key \"a\" of 'listMapKeys' must be a required or defaulted plain field",
    ],
    "list type of text": [z.string().meta({ listType: "set" }), "'listType' is for arrays"],
    "raw extension": [z.string().meta({ "x-kubernetes-list-type": "set" }), 'not "x-kubernetes-list-type"'],
    "rule without text": [z.string().meta({ rules: [{ message: "x" } as never] }), "a rule must be { rule:"],
    "rule option": [z.string().meta({ rules: [{ rule: "true", msg: "x" } as never] }), 'a rule has no option "msg"'],
  };
  for (const [name, [schema, message]] of Object.entries(cases)) {
    test(name, () => expect(() => converted(schema)).toThrow(message));
  }
  test("deep inside, with the path", () => {
    const schema = z.object({ list: z.array(z.record(z.string(), z.object({ at: z.date() }))) });
    expect(() => convertField(schema, "spec")).toThrow("spec.list[].*.at: JSON has no dates");
  });
});

describe("convertField", () => {
  test("does not fill schemas with the bounds of safe integers", () => {
    expect(converted(z.int())).toEqual({ type: "integer", format: "int64" });
    expect(converted(z.number().int().positive())).toEqual({
      type: "integer",
      format: "int64",
      minimum: 0,
      exclusiveMinimum: true,
    });
    expect(converted(z.int32())).toEqual({ type: "integer", format: "int32" });
  });
  test("requires what has no default, keeps what is described outside", () => {
    const schema = z.object({
      a: z.string(),
      b: z.int().default(1),
      c: z.string().describe("in").optional().describe("out"),
    });
    expect(converted(schema)).toEqual({
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "integer", format: "int64", default: 1 },
        c: { type: "string", description: "out" },
      },
      required: ["a"],
    });
  });
  test("merges the options of a discriminated union", () => {
    const schema = z.discriminatedUnion("t", [
      z.object({ t: z.literal("a"), shared: z.string(), x: z.string() }),
      z.strictObject({ t: z.literal("b"), shared: z.string() }),
    ]);
    expect(converted(schema)).toEqual({
      type: "object",
      properties: { t: { type: "string", enum: ["a", "b"] }, shared: { type: "string" }, x: { type: "string" } },
      required: ["shared", "t"],
      oneOf: [
        { properties: { t: { enum: ["a"] } }, required: ["x"] },
        { properties: { t: { enum: ["b"] } }, not: { anyOf: [{ required: ["x"] }] } },
      ],
    });
  });
  test("a schema may stand in two places", () => {
    const name = z.object({ a: z.string() });
    expect(converted(z.object({ x: name, y: name })).required).toEqual(["x", "y"]);
  });
  test("rules and immutability of one field", () => {
    const schema = z.string().meta({ rules: [{ rule: "self != 'x'", message: "not x" }], immutable: true });
    expect(converted(schema)["x-kubernetes-validations"]).toEqual([
      { rule: "self != 'x'", message: "not x" },
      { rule: "self == oldSelf", message: "field is immutable" },
    ]);
  });
});
