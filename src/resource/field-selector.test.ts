import { describe, expect, test } from "bun:test";
import { parseFieldSelector } from "./field-selector.ts";

const object = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "shop", uid: "u", resourceVersion: "1", creationTimestamp: "" },
  spec: { nodeName: "n1", hostNetwork: true, replicas: 3, note: "a,b=c\\" },
};

describe("parseFieldSelector matches", () => {
  const cases: readonly [string, boolean][] = [
    ["", true],
    ["metadata.name=web", true],
    ["metadata.name==web,metadata.namespace!=other", true],
    ["metadata.name!=web", false],
    ["spec.hostNetwork=true,spec.replicas=3", true],
    ["status.phase=", true],
    ["status.phase!=Running", true],
    ["spec=", true],
    ["metadata.constructor=", true],
    ["spec.note=a\\,b\\=c\\\\", true],
  ];
  for (const [text, expected] of cases) {
    test(`${text} is ${expected}`, () => expect(parseFieldSelector(text).matches(object)).toBe(expected));
  }
});

test("parseFieldSelector gives one text for equal selectors", () => {
  expect(String(parseFieldSelector("b==2,a=1,b=2"))).toBe("a=1,b=2");
  expect(String(parseFieldSelector("a=x\\,y"))).toBe("a=x\\,y");
});

test("parseFieldSelector refuses what is no comparison", () => {
  for (const text of ["metadata.name", "=x", "a in (b)", "a..b=c"]) {
    expect(() => parseFieldSelector(text)).toThrow(
      `Cannot use field selector ${JSON.stringify(text)}: "${text}" must be`,
    );
  }
  expect(() => parseFieldSelector("a=b=c")).toThrow('"\\="');
  expect(() => parseFieldSelector("a=b\\c")).toThrow('"\\\\"');
});
