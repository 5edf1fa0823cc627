import { describe, expect, test } from "bun:test";
import { labelSelector, parseLabelSelector } from "./selector.ts";

const labels = { app: "web", tier: "a", empty: "", weight: "7", "example.com/team": "core" };

describe("parseLabelSelector matches", () => {
  const cases: readonly [string, boolean][] = [
    ["", true],
    ["app=web", true],
    ["app==web", true],
    ["app = db", false],
    ["app!=db", true],
    ["app!=web", false],
    ["other!=x", true],
    ["tier in (a,b)", true],
    ["tier in (b, c)", false],
    ["tier notin (b,c)", true],
    ["other notin (b)", true],
    ["other in (,)", false],
    ["empty in (,)", true],
    ["empty in ()", true],
    ["empty=", true],
    ["empty=,app=web", true],
    ["app", true],
    ["!app", false],
    ["!other", true],
    ["weight>6,weight<8", true],
    ["weight > 7", false],
    ["app>1", false],
    ["example.com/team=core,app", true],
    ["constructor", false],
    ["!hasOwnProperty,!toString", true],
  ];
  for (const [text, expected] of cases) {
    test(`${text} is ${expected}`, () => expect(parseLabelSelector(text).matches(labels)).toBe(expected));
  }
  test("absent labels are no labels", () => {
    expect(parseLabelSelector("app").matches(undefined)).toBe(false);
    expect(parseLabelSelector("!app").matches(undefined)).toBe(true);
  });
  test("`in` and `notin` may be keys and values", () => {
    expect(parseLabelSelector("in in (in,notin)").matches({ in: "notin" })).toBe(true);
    expect(parseLabelSelector("in=notin").matches({ in: "notin" })).toBe(true);
  });
});

test("parseLabelSelector gives one text for equal selectors", () => {
  expect(String(parseLabelSelector(" tier notin (b,a,b) , app==web, !x,app=web, z in (q), y"))).toBe(
    "!x,app=web,tier notin (a,b),y,z=q",
  );
  expect(String(parseLabelSelector(""))).toBe("");
});

describe("parseLabelSelector refuses", () => {
  const cases: readonly [string, string][] = [
    ["app=web,", 'found the end, expected a label key or "!"'],
    [",app", 'found ",", expected a label key or "!"'],
    ["app web", 'found "web", expected "=", "==", "!=", "in", "notin", ">" or "<"'],
    ["app in a", 'found "a", expected "("'],
    ["app in (a", 'found the end, expected "," or ")"'],
    ["weight>99999999999999999999", "compares integers"],
    ["!app=web", 'found "=", expected "," or the end after "!app"'],
    ["app=a=b", 'found "=", expected "," or the end'],
    ["app=a b", 'found "b", expected "," or the end'],
    ["-app", 'the key "-app" must consist of'],
    ["Foo_/a=b", 'the prefix "Foo_" of the key'],
    ["app=web!", 'found "!", expected "," or the end'],
    ["app=-x", 'the value "-x" must consist of'],
    [`app=${"a".repeat(64)}`, "is longer than 63 characters"],
    ["weight>x", "compares integers"],
  ];
  for (const [text, message] of cases) {
    test(text.slice(0, 20), () => {
      expect(() => parseLabelSelector(text)).toThrow(message);
      expect(() => parseLabelSelector(text)).toThrow(`Cannot use label selector ${JSON.stringify(text)}: `);
    });
  }
});

describe("labelSelector", () => {
  test("takes text, plain objects and Kubernetes' objects", () => {
    expect(String(labelSelector("b,a=1"))).toBe("a=1,b");
    expect(String(labelSelector({ app: "x", tier: ["b", "a"] }))).toBe("app=x,tier in (a,b)");
    expect(String(labelSelector({ a: { exists: false }, b: { notIn: ["x"] }, c: { in: ["x", "y"] } }))).toBe(
      "!a,b!=x,c in (x,y)",
    );
    const standard = {
      matchLabels: { app: "x" },
      matchExpressions: [
        { key: "tier", operator: "NotIn", values: ["a", "b"] },
        { key: "canary", operator: "DoesNotExist" },
        { key: "q", operator: "Exists" },
      ],
    };
    expect(String(labelSelector(standard))).toBe("!canary,app=x,q,tier notin (a,b)");
    expect(labelSelector({}).matches({ any: "thing" })).toBe(true);
  });
  test("refuses what is no label", () => {
    expect(() => labelSelector({ canary: true as unknown as string })).toThrow('"canary" must be a string, an array');
    expect(() => labelSelector({ canary: { not: "x" } as unknown as string })).toThrow('"canary" must be a string');
    expect(() => labelSelector({ tier: [] })).toThrow("needs at least one value");
    expect(() => labelSelector({ matchExpressions: [{ key: "a", operator: "in", values: ["x"] }] })).toThrow(
      'the operator "in" is none of In, NotIn, Exists and DoesNotExist',
    );
    expect(() => labelSelector({ matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] })).toThrow(
      'Exists of "a" takes no values',
    );
  });
});
