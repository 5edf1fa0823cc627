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
