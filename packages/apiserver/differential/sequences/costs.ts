/** Rules that are too expensive by kube-apiserver's estimate. */
import type { Case } from "../case.ts";
import { definitionOf, definitions } from "../custom-kinds.ts";

const list = (items: object, more: object = {}): object => ({ type: "array", items, ...more });
const text = (more: object = {}): object => ({ type: "string", ...more });
const rules = (...all: string[]): object => ({ "x-kubernetes-validations": all.map((rule) => ({ rule })) });

/** The fields of a spec, and its rules. */
const specs: Readonly<Record<string, object>> = {
  "a long text": {
    properties: { a: text() },
    ...rules("self.a.contains('x')", "self.a == 'b'", "self.a.startsWith('c')"),
  },
  "a pattern on a long text": {
    properties: { a: text() },
    ...rules("self.a.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')"),
  },
  "two long texts": { properties: { a: text(), b: text() }, ...rules("self.a == self.b", "self.a.contains(self.b)") },
  "two bounded texts": {
    properties: { a: text({ maxLength: 100 }), b: text({ maxLength: 100 }) },
    ...rules("self.a == self.b", "self.a.contains(self.b)", "self.a + self.b != 'x'"),
  },
  "a list": { properties: { a: list(text()) }, ...rules("self.a.all(x, x.startsWith('a'))", "size(self.a) > 1") },
  "a list of texts with a pattern": {
    properties: { a: list(text()) },
    ...rules("self.a.all(x, x.matches('^[a-z]+$'))"),
  },
  "a list in a list": { properties: { a: list(text()) }, ...rules("self.a.all(x, self.a.exists(y, x == y))") },
  "a list of numbers twice": {
    properties: { a: list({ type: "integer" }) },
    ...rules("self.a.all(x, self.a.exists_one(y, x == y))", "self.a.all(x, x > 0)"),
  },
  "a bounded list twice": {
    properties: { a: list({ type: "integer" }, { maxItems: 100 }) },
    ...rules("self.a.all(x, self.a.exists_one(y, x == y))", "self.a.filter(x, x > 1).size() > 2", "5 in self.a"),
  },
  "a bounded list three times": {
    properties: { a: list({ type: "integer" }, { maxItems: 200 }) },
    ...rules("self.a.all(x, self.a.all(y, self.a.all(z, x + y + z > 0)))"),
  },
  "rules on the items of a list": {
    properties: {
      a: list({
        type: "object",
        properties: { b: text(), c: { type: "integer" } },
        ...rules("self.b.contains('x')", "self.c > 1"),
      }),
    },
  },
  "rules on the items of a bounded list": {
    properties: {
      a: list(
        {
          type: "object",
          required: ["b"],
          properties: { b: text({ maxLength: 10 }) },
          ...rules("self.b.matches('a+')", "self.b != 'c'"),
        },
        { maxItems: 50 },
      ),
    },
  },
  "a list in a list with rules": {
    properties: { a: list(list({ type: "string", ...rules("self != 'x'") })) },
  },
  "a map": {
    properties: { a: { type: "object", additionalProperties: text() } },
    ...rules("self.a.all(k, self.a[k] != '')", "self.a.all(k, k.startsWith('x'))", "!('b' in self.a)"),
  },
  "a map with rules": {
    properties: { a: { type: "object", additionalProperties: { type: "string", ...rules("self.contains('x')") } } },
  },
  "what there was before": {
    properties: { a: list(text(), { "x-kubernetes-list-type": "set" }) },
    ...rules("oldSelf.a.all(x, x in self.a)"),
  },
  choices: {
    properties: { a: text({ enum: ["one", "two"] }), b: { type: "boolean" }, c: text({ maxLength: 5 }) },
    ...rules("self.a == 'one' ? self.b : has(self.c)", "self.c in ['x', 'y']", "self.a.size() + 1 > 2 && !self.b"),
  },
};

export const costs: readonly Case[] = [
  {
    name: "costs of rules",
    run: async (session) => {
      const kind = { group: "costs.example.test", plural: "things", kind: "Thing" };
      for (const [label, spec] of Object.entries(specs)) {
        const schema = { type: "object", properties: { spec: { type: "object", ...spec } } };
        await session.post(label, definitions, definitionOf({ ...kind, schema }));
      }
    },
  },
];
