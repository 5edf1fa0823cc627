import { describe, expect, test } from "bun:test";
import { schemaOf } from "../schema/custom.ts";
import { compiled } from "./compile.ts";
import { costOf } from "./cost.ts";
import { measured } from "./cost-meter.ts";
import { celEnvironment } from "./environment.ts";
import { programOf } from "./program.ts";
import table from "./recorded-costs.txt" with { type: "text" };
import { schemaType } from "./schema-type.ts";
import { sizesOf } from "./sizes.ts";
import { dyn } from "./type.ts";
import { toCel } from "./values.ts";

const list = (items: object): object => ({ type: "array", items });
const [text, integer, boolean] = [{ type: "string" }, { type: "integer" }, { type: "boolean" }];
const record = (properties: object): object => ({ type: "object", properties });

const schema = schemaOf({
  type: "object",
  properties: {
    i: integer,
    n: { type: "number" },
    b: boolean,
    s: text,
    t: { type: "string", maxLength: 50 },
    when: { type: "string", format: "date-time" },
    d: { type: "string", format: "duration" },
    raw: { type: "string", format: "byte" },
    ios: { "x-kubernetes-int-or-string": true },
    li: list(integer),
    ls: list(text),
    lb: list(boolean),
    ll: list(list(integer)),
    lo: list(record({ name: text, v: integer, opt: text, tags: list(text) })),
    m: { type: "object", additionalProperties: text },
    mi: { type: "object", additionalProperties: integer },
    o: record({ a: record({ b: text, c: integer }), x: integer }),
    absent: text,
    ao: record({ z: text }),
  },
});

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const entries = (count: number, value: (index: number) => unknown): object =>
  Object.fromEntries(numbers(count).map((index) => [`k${index}`, value(index)]));

const objects = [
  {
    i: 3,
    n: 1.5,
    b: true,
    s: "hello wörld, this is a text of more than ten 😀",
    t: "abc",
    when: "2024-01-02T03:04:05Z",
    d: "1h",
    raw: "aGVsbG8gd29ybGQgaGVsbG8=",
    ios: "80%",
    li: [3, 1, 2, 5, 4],
    ls: ["alpha", "beta beta beta beta", "gamma", ""],
    lb: [true, false, true],
    ll: [[1, 2], [3], []],
    lo: [
      { name: "one", v: 1, tags: ["a", "b"] },
      { name: "two-and-a-half-long", v: 2, opt: "x" },
      { name: "three", v: 3 },
    ],
    m: { k: "v", "key two": "a value that is longer", z: "" },
    mi: { a: 1, b: 2 },
    o: { a: { b: "bee", c: 7 }, x: 1 },
  },
  {
    i: -7,
    n: 0.5,
    b: true,
    s: "x".repeat(333),
    t: "y".repeat(50),
    when: "2024-01-02T03:04:05Z",
    d: "1h",
    raw: "eA==",
    ios: "x",
    li: numbers(40),
    ls: numbers(30).map((index) => `s${index}`.repeat((index % 5) + 1)),
    lb: numbers(7).map(() => true),
    ll: numbers(6).map(() => numbers(5)),
    lo: numbers(12).map((index) => ({ name: `n${index}`, v: index, tags: numbers(index % 3).map(() => "t") })),
    m: entries(15, (index) => "v".repeat(index)),
    mi: entries(5, (index) => index),
    o: { a: { b: "b".repeat(18), c: 1 }, x: 9 },
  },
];

const rows = table
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => /^(\S+) (\S+) (\S+) (.*)$/.exec(line)!.slice(1) as [string, string, string, string]);

describe("a rule costs while it runs what it costs kube-apiserver", () => {
  const self = schemaType(schema, false) ?? dyn;
  test.each(rows)("%s and %s (%s at most): %s", (...row) => {
    const program = programOf(row[3], { environment: celEnvironment(), types: new Map([["self", self]]) });
    for (const [index, object] of objects.entries()) {
      if (row[index] === "-") continue;
      const { cost, error } = program.run({ self: toCel(object, schema) });
      expect({ cost, error }).toEqual({ cost: Number(row[index]), error: undefined });
    }
  });
});

test.each(rows)("a rule is estimated as kube-apiserver does it: %s and %s, %s at most: %s", (...row) => {
  const program = compiled(row[3], new Map([["self", schemaType(schema, false) ?? dyn]]));
  if (typeof program === "string") throw new Error(program);
  expect(costOf(program, sizesOf(schema)) / Number(row[2])).toBeCloseTo(1, 9);
});

test("an expression within another one has a cost of its own", () => {
  const program = programOf("self.x > 1", { environment: celEnvironment(), types: new Map([["self", dyn]]) });
  let inner = 0;
  const object = Object.defineProperty({}, "x", {
    enumerable: true,
    get: () => {
      const outcome = measured(5, () => 2n);
      inner++;
      return outcome.value;
    },
  });
  expect(program.run({ self: object })).toMatchObject({ cost: 3, value: true });
  expect(inner).toBeGreaterThan(0);
});

test("an expression that costs too much is cancelled, whatever its operators make of errors", () => {
  const program = programOf("self.all(x, self.all(y, self.all(z, x + y + z >= 0))) || true", {
    environment: celEnvironment(),
    types: new Map([["self", schemaType(schemaOf(list(integer) as never), false)!]]),
  });
  const outcome = program.run({ self: numbers(200).map(BigInt) });
  expect(outcome).toMatchObject({ isCancelled: true, value: true });
  expect(String(outcome.error)).toContain("operation cancelled: actual cost limit exceeded");
  expect(program.run({ self: [1n] })).toMatchObject({ isCancelled: false, value: true });
});
