import { expect, test } from "bun:test";
import { customSchema } from "../schema/custom.ts";
import { validateRules } from "./rules.ts";

function specOf(spec: object): Parameters<typeof validateRules>[0] {
  return customSchema({ type: "object", properties: { spec } }, { kind: "Thing" });
}

const grows = specOf({
  type: "object",
  properties: {
    size: {
      type: "integer",
      "x-kubernetes-validations": [
        { rule: "!oldSelf.hasValue() || self >= oldSelf.value()", message: "may only grow", optionalOldSelf: true },
      ],
    },
  },
});

test("a rule with optionalOldSelf compares with the value of the optional", () => {
  expect(validateRules(grows, { spec: { size: 3 } })).toEqual([]);
  expect(validateRules(grows, { spec: { size: 3 } }, { old: { spec: { size: 2 } } })).toEqual([]);
  const [error] = validateRules(grows, { spec: { size: 1 } }, { old: { spec: { size: 2 } } });
  expect(error).toMatchObject({ field: "spec.size", detail: "may only grow" });
});

test("optionals are mapped, and lists have a first and a last item", () => {
  const schema = specOf({
    type: "object",
    properties: { list: { type: "array", items: { type: "integer" } } },
    "x-kubernetes-validations": [
      { rule: "self.?list.optMap(l, size(l) < 3).orValue(true)", message: "too many" },
      { rule: "self.list.first().orValue(0) < self.list.last().orValue(1)", message: "no order" },
      { rule: "self.?list.optFlatMap(l, l.first()).orValue(0) < 9", message: "too large" },
    ],
  });
  const details = (list: number[]): string[] => validateRules(schema, { spec: { list } }).map(({ detail }) => detail);
  expect(details([1, 2])).toEqual([]);
  expect(details([])).toEqual([]);
  expect(details([9, 5, 1])).toEqual(["too many", "no order", "too large"]);
});

test("a rule that an unchanged part breaks warns, and refuses a change", () => {
  const schema = specOf({
    type: "object",
    properties: {
      list: { type: "array", items: { type: "string", "x-kubernetes-validations": [{ rule: "self != 'x'" }] } },
      text: { type: "string", "x-kubernetes-validations": [{ rule: "self != 'x'", message: "is x" }] },
      other: { type: "string" },
    },
  });
  const old = { spec: { list: ["x"], text: "x" } };
  const warnings: string[] = [];
  const warn = (problem: string): void => void warnings.push(problem);
  expect(validateRules(schema, { spec: { ...old.spec, other: "y" } }, { old, warn })).toEqual([]);
  expect(warnings).toEqual([
    `spec.list[0]: Invalid value: "x": failed rule: self != 'x'`,
    `spec.text: Invalid value: "x": is x`,
  ]);
  expect(validateRules(schema, { spec: { list: ["x", "z"], text: "x" } }, { old, warn })).toHaveLength(1);
});

test.each([
  ["int(self) > 0", ["", " 5", "0x10", "1_0", "99999999999999999999"], ["5", "+5"], "int"],
  ["uint(self) > 0u", ["", "+5", "-1", "1.5"], ["5"], "uint"],
  ["double(self) > 0.0", ["", " 5", "1e400", "x", "_1"], ["1_0", ".5", "5.", "inf"], "double"],
  ["bool(self)", ["", "yes", "tRUE"], ["true", "1", "TRUE"], "bool"],
  [
    "duration(self) > duration('1s')",
    ["", "1h1", ".s", "9999999999h", "5"],
    ["1000s", "1.5h"],
    "google.protobuf.Duration",
  ],
  [
    "timestamp(self) > timestamp('2020-01-01T00:00:00Z')",
    ["", "2021-01-01", "2021-01-01t00:00:00Z", "2021-02-30T00:00:00Z"],
    ["2021-01-01T00:00:00Z", "2021-01-01T00:00:00.123456789+01:00"],
    "google.protobuf.Timestamp",
  ],
])("%s takes the texts that Go takes and reports others in the words of cel-go", (rule, wrong, right, type) => {
  const schema = specOf({
    type: "object",
    properties: { text: { type: "string", "x-kubernetes-validations": [{ rule }] } },
  });
  const said = (text: string): string | undefined => validateRules(schema, { spec: { text } })[0]?.detail;
  for (const text of wrong)
    expect(said(text)).toBe(`type conversion error from 'string' to '${type}' evaluating rule: ${rule}`);
  for (const text of right) expect(said(text)).toBeUndefined();
});

const squared = "self.all(x, self.all(y, x + y >= 0))";

function costly(count: number, rule: object = { rule: squared }): Parameters<typeof validateRules>[0] {
  const list = { type: "array", items: { type: "integer" }, "x-kubernetes-validations": [rule] };
  const fields = Array.from({ length: count }, (_, index) => [`f${index}`, list] as const);
  return specOf({ type: "object", properties: Object.fromEntries(fields) });
}

const items = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test("a rule that costs too much refuses the object, and no further rule runs", () => {
  const spec = { f0: items(500), f1: [-1] };
  expect(validateRules(costly(2), { spec })).toEqual([
    {
      type: "Invalid",
      field: "spec.f0",
      badValue: "array",
      detail: `'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${squared}`,
    },
  ]);
  expect(validateRules(costly(2), { spec: { ...spec, f0: items(100) } })).toMatchObject([{ field: "spec.f1" }]);
});

test("rules that cost too much together refuse the object, also when most of it is unchanged", () => {
  const spec = Object.fromEntries(items(12).map((index) => [`f${index}`, items(370)]));
  const detail = "validation failed due to running out of cost budget, no further validation rules will be run";
  const schema = costly(12);
  const expected = [{ type: "Invalid", field: "spec.f10", badValue: "array", detail }] as const;
  expect(validateRules(schema, { spec })).toMatchObject(expected);
  const few = { ...spec, f10: [], f11: [] };
  expect(validateRules(schema, { spec: few })).toEqual([]);
  expect(validateRules(schema, { spec }, { old: { spec: few } })).toMatchObject(expected);
});

test("a message that costs too much is told instead of itself, and no further rule runs", () => {
  const messageExpression = `${squared} ? 'a' : 'b'`;
  const schema = costly(2, { rule: "self.size() == 0", messageExpression });
  const why = `no further validation rules will be run due to call cost exceeds limit for messageExpression: "${messageExpression}"`;
  expect(validateRules(schema, { spec: { f0: items(500), f1: [1] } })).toMatchObject([
    { field: "spec.f0", badValue: "array", detail: why },
  ]);
});

test("has() takes a field of an item of a list", () => {
  const schema = specOf({
    type: "object",
    properties: { list: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } } },
    "x-kubernetes-validations": [{ rule: "has(self.list[0].a) && !has(self.list[1].a)" }],
  });
  expect(validateRules(schema, { spec: { list: [{ a: "x" }, {}] } })).toEqual([]);
  expect(validateRules(schema, { spec: { list: [{}, {}] } })).toMatchObject([{ field: "spec" }]);
});

test.each([
  "[3, 1, 2].sort() == [1, 2, 3] && [1, 2, 1].distinct() == [1, 2] && [1, 2].reverse() == [2, 1]",
  "[1, 2, 3].slice(1, 2) == [2] && [[1], [2, 3]].flatten() == [1, 2, 3] && lists.range(3) == [0, 1, 2]",
  "{'a': 'b'}.transformMapEntry(k, v, {v: k}) == {'b': 'a'} && matches('abc', '^a.c$')",
  "ip('::1') == ip('0::1') && cidr('10.0.0.0/8') != cidr('10.0.0.0/9') && url('/a') == url('/a')",
])("functions of lists, maps and addresses: %s", (rule) => {
  const schema = specOf({ type: "object", "x-kubernetes-validations": [{ rule }] });
  expect(validateRules(schema, { spec: {} })).toEqual([]);
});

const count = (length: number): number[] => Array.from({ length }, (_, index) => index);
const texts = (length: number) => (size: number) =>
  count(size).map((index) => `${"a".repeat(length - 6)}${String(index).padStart(6, "0")}`);
const rounds = (rule: string): string => `[${count(100).join(", ")}].all(round, ${rule})`;

/** Rules with the greatest number of items at which kube-apiserver 1.36 takes a list; one more is refused. */
test.each([
  ["self.all(x, self.all(y, x + y >= 0))", "integer", count, 377],
  ["self.all(x, self.exists(y, y == x))", "integer", count, 532],
  ["self.all(x, self.exists_one(y, y == x))", "integer", count, 576],
  ["self.map(x, self.map(y, x * y).size()).sum() >= 0", "integer", count, 257],
  ["self.filter(x, self.filter(y, y > x).size() > 2).size() >= 0", "integer", count, 323],
  ["self.all(x, x in self)", "integer", count, 997],
  ["self.all(x, self.all(y, x != y || x == y))", "string", texts(50), 315],
  ["self.all(x, self.all(y, x <= y || x > y))", "string", texts(30), 308],
  ["sets.contains(self, self) && sets.intersects(self, self) && sets.equivalent(self, self)", "integer", count, 499],
  ["self.distinct().size() >= 0", "integer", count, 707],
  ["self.sort().size() >= 0", "string", texts(20), 690],
  ["self.sortBy(x, -x).size() >= 0", "integer", count, 703],
  ["self.isSorted() && self.sum() >= 0 && self.all(x, self.max() >= x)", "integer", count, 996],
  ["self.all(x, self.indexOf(x) >= 0)", "string", texts(30), 576],
  [rounds("self.all(i, v, i == v) && self.transformList(i, v, i + v).size() >= 0"), "integer", count, 475],
  [rounds("self.all(x, '%s: %s'.format([x, x.size()]) != '')"), "string", texts(30), 587],
  [rounds("self.all(x, [x, 1].size() == 2 && {'a': x}.a == x)"), "integer", count, 195],
  [rounds("self.all(x, x.find('[0-9]+') != '' && x.findAll('a').size() > 0)"), "string", texts(30), 526],
] as const)("a list is refused at the size at which kube-apiserver refuses it: %s", (rule, type, values, most) => {
  const schema = specOf({ type: "array", items: { type }, "x-kubernetes-validations": [{ rule }] });
  expect(validateRules(schema, { spec: values(most) })).toEqual([]);
  const [error] = validateRules(schema, { spec: values(most + 1) });
  expect(error?.detail).toStartWith("'operation cancelled: actual cost limit exceeded'");
});
