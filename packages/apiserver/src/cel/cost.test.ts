import { expect, test } from "bun:test";
import { schemaOf } from "../schema/custom.ts";
import { compiled } from "./compile.ts";
import { costOf } from "./cost.ts";
import { schemaType } from "./schema-type.ts";
import { mostTimes, sizesOf } from "./sizes.ts";

const schema = schemaOf({
  type: "object",
  properties: {
    number: { type: "integer" },
    short: { type: "string", maxLength: 10 },
    few: { type: "array", maxItems: 5, items: { type: "string", maxLength: 10 } },
    many: { type: "array", items: { type: "integer" } },
  },
});

function estimate(expression: string): number {
  const program = compiled(expression, new Map([["self", schemaType(schema, false)!]]));
  if (typeof program === "string") throw new Error(program);
  return costOf(program, sizesOf(schema));
}

test.each([
  ["self.number > 1", 3],
  ["self.number > -1", 3],
  ["self.short == 'abc'", 3],
  ["has(self.short)", 1],
  ["self.short.startsWith('abc') && self.number > 1", 6],
  ["self.short.matches('a+b+')", 7],
  ["self.few.all(x, x != '')", 2 + 5 * 4 + 1],
  ["self.few.map(x, x + 'y').size() > 1", 2 + 10 + 5 * (1 + 5 + 12) + 1 + 2],
] as const)("costOf %s is %d", (expression, cost) => {
  expect(estimate(expression)).toBe(cost);
});

test("costOf counts what nothing bounds by the largest request", () => {
  const items = Math.floor((3 * 1024 * 1024 - 2) / 2);
  expect(estimate("self.many.all(x, x > 0)")).toBe(2 + items * 5 + 1);
  expect(mostTimes({ kind: "object", most: 0, least: 2 })).toBe(1024 * 1024);
});
