import { describe, expect, test } from "bun:test";
import { decodeYaml, encodeYaml } from "./yaml.ts";

describe("decodeYaml", () => {
  test("reads blocks, flows and scalars as YAML 1.1 has them", () => {
    const text = [
      "a: yes",
      "b: 017",
      "c: 0x1F",
      "d: 1_000",
      "e: [1, 'x', ~, {f: on}]",
      "g: |-",
      "  one",
      "   two",
      "h: >",
      "  one",
      "  two",
      "",
      "  three",
      "i:",
      "- 1",
      "- j: 2",
      '"k\\u0041": "\\x41 \\',
      '   z"',
      "? l",
      ": 2020-01-02",
      "m: 1e400",
      "q: 1:30",
      "o: !!str 1",
      "p: !!binary aGk=",
    ].join("\n");
    expect(decodeYaml(text).value).toEqual({
      a: true,
      b: 15,
      c: 31,
      d: 1000,
      e: [1, "x", null, { f: true }],
      g: "one\n two",
      h: "one two\nthree\n",
      i: [1, { j: 2 }],
      kA: "A z",
      l: "2020-01-02",
      m: "1e400",
      o: "1",
      p: "hi",
      q: "1:30",
    });
  });

  test("keeps integers of 64 bits, and takes the point of a float without a fraction", () => {
    expect(decodeYaml("[9223372036854775807, -9223372036854775808, 1.0, 1.5, 18446744073709551616]").value).toEqual([
      9223372036854775807n,
      -9223372036854775808n,
      1,
      1.5,
      2 ** 64,
    ]);
  });

  test("follows anchors and merges", () => {
    const text = "a: &a {x: 1, w: 2}\nb: *a\nc:\n  <<: *a\n  w: 3\nd:\n  <<: [{x: 4}, *a]";
    expect(decodeYaml(text).value).toEqual({
      a: { x: 1, w: 2 },
      b: { x: 1, w: 2 },
      c: { x: 1, w: 3 },
      d: { x: 4, w: 2 },
    });
  });

  test("reads the first document only", () => {
    expect(decodeYaml("a: 1\n---\n{").value).toEqual({ a: 1 });
    expect(decodeYaml("").value).toBe(null);
  });

  test("makes texts of keys, also of one that objects have already", () => {
    const { value } = decodeYaml("{1: a, true: b, 1.5: c, __proto__: {d: e}}");
    expect(JSON.stringify(value)).toBe('{"1":"a","true":"b","1.5":"c","__proto__":{"d":"e"}}');
  });

  test("says which keys a map has twice, and takes the last", () => {
    const { value, repeated } = decodeYaml("a: 1\nb: {c: 1, c: 2}\na: 3");
    expect(value).toEqual({ a: 3, b: { c: 2 } });
    expect(repeated).toEqual(['line 2: key "c" already set in map', 'line 3: key "a" already set in map']);
  });

  test.each([
    ["a: 1\nb: c: d", "yaml: line 2: "],
    ["\ta: b", "yaml: line 1: "],
    ["a: [b, c", "yaml: line 1: "],
    ["a: 'b", "yaml: line 1: "],
    ["a: *b", "yaml: unknown anchor 'b' referenced"],
    ["a: &b [*b]", "yaml: anchor 'b' value contains itself"],
    ["<<: 1", "yaml: map merge requires map or sequence of maps as the value"],
    ["a: !!int x", 'yaml: cannot decode "x" as a !!int'],
    ["{{ template }}", "yaml: a key is null, a list or a map"],
    ["a: \u0007b", "yaml: control characters are not allowed"],
    ["a: .nan", "yaml: JSON has no number NaN"],
    ["~: a", "yaml: a key is null, a list or a map"],
    ["a: !!binary x", "yaml: !!binary value contains invalid base64 data"],
  ])("refuses %j", (text, message) => {
    expect(() => decodeYaml(text)).toThrow(message);
  });
});

describe("a hostile document", () => {
  const bombs: Readonly<Record<string, string>> = {
    "of aliases of aliases": `a0: &a0 [x]\n${Array.from({ length: 40 }, (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(9)}]\n`).join("")}`,
    "of aliases of a long text": `a: &a ${"x".repeat(100_000)}\nb: [${"*a, ".repeat(1000)}]`,
    "of merges": `a: &a {${Array.from({ length: 1000 }, (_, index) => `k${index}: 1`).join(", ")}}\n${Array.from({ length: 5000 }, (_, index) => `b${index}: {<<: *a}`).join("\n")}`,
    "of open lists": "[".repeat(100_000),
    "of open maps": "{a: ".repeat(50_000),
    "of open items": "- ".repeat(100_000),
  };
  test.each(Object.entries(bombs))(
    "%s is refused soon",
    (_, text) => {
      const started = performance.now();
      expect(() => decodeYaml(text)).toThrow("yaml: ");
      expect(performance.now() - started).toBeLessThan(20_000);
    },
    60_000,
  );

  test.each<[string, string]>([
    ["keys", Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`).join("\n")],
    [
      "anchors, each with an alias",
      Array.from({ length: 20_000 }, (_, index) => `- &a${index} x\n- *a${index}`).join("\n"),
    ],
    ["items deep inside of lists", `${"[".repeat(1000)}${"a,\n".repeat(20_000)}${"]".repeat(1000)}`],
  ])(
    "with many %s is read soon",
    (_, text) => {
      const started = performance.now();
      decodeYaml(text);
      expect(performance.now() - started).toBeLessThan(20_000);
    },
    60_000,
  );
});

test("encodeYaml orders keys, and quotes what readers of YAML 1.1 take for something else", () => {
  const value = {
    b: "yes",
    a: ["x", ["y", {}], { d: null, c: [] }],
    time: "2020-01-02T03:04:05Z",
    minutes: "1:30",
    octal: "017",
    empty: "",
    odd: "a\tb\u0007",
    text: "one\n  two\n",
    long: `${"a text that goes on and on ".repeat(8)}.`,
    true: true,
  };
  const yaml = encodeYaml(JSON.stringify(value));
  expect(yaml.split("\n").slice(0, 3)).toEqual(["a:", "- x", '- - "y"']);
  expect(decodeYaml(yaml).value).toEqual(value);
  expect(yaml).toContain('b: "yes"\n');
  expect(yaml).toContain('time: "2020-01-02T03:04:05Z"\n');
  expect(decodeYaml(encodeYaml('{"large":9223372036854775807}')).value).toEqual({ large: 9223372036854775807n });
});
