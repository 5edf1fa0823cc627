import { expect, test } from "bun:test";
import { jsonPath } from "./json-path.ts";

const object = {
  spec: { a: 1, "b.c": 2, list: ["x", "y"] },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
};

test("jsonPath finds fields, indexes, wildcards and filtered items", () => {
  const found: [string, unknown[]][] = [
    [".spec.a", [1]],
    [".spec.b\\.c", [2]],
    [".spec['b.c']", [2]],
    [".spec.list[1]", ["y"]],
    [".spec.list[-1]", ["y"]],
    [".spec.list[*]", ["x", "y"]],
    ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
    ["{.spec.a}", [1]],
    [".nope.a", []],
    [".spec.list[5]", []],
    [".spec[", []],
  ];
  for (const [path, values] of found) expect(jsonPath(path)(object)).toEqual(values);
});
