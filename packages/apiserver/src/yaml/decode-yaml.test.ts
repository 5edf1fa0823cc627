import { describe, expect, test } from "bun:test";
import { decodeYaml } from "./decode-yaml.ts";

function problem(text: string): string {
  try {
    return `no problem: ${JSON.stringify(decodeYaml(text).value)}`;
  } catch (error) {
    return (error as Error).message;
  }
}

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
    });
  });

  test("follows anchors and merges", () => {
    const text = "a: &a {x: 1, w: 2}\nb: *a\nc:\n  <<: *a\n  w: 3";
    expect(decodeYaml(text).value).toEqual({ a: { x: 1, w: 2 }, b: { x: 1, w: 2 }, c: { x: 1, w: 3 } });
  });

  test("reads the first document only", () => {
    expect(decodeYaml("a: 1\n---\n{").value).toEqual({ a: 1 });
    expect(decodeYaml("").value).toBe(null);
  });

  test("makes texts of keys", () => {
    expect(decodeYaml("{1: a, true: b, 1.5: c, 1e30: d}").value).toEqual({
      1: "a",
      true: "b",
      "1.5": "c",
      "1e+30": "d",
    });
  });

  test("says which keys a map has twice, and takes the last", () => {
    const { value, repeated } = decodeYaml("a: 1\nb: {c: 1, c: 2}\na: 3");
    expect(value).toEqual({ a: 3, b: { c: 2 } });
    expect(repeated).toBe(
      'yaml: unmarshal errors:\n  line 2: key "c" already set in map\n  line 3: key "a" already set in map',
    );
  });

  test.each([
    ["a: b: c", "yaml: mapping values are not allowed in this context"],
    ["a: 1\nb: c: d", "yaml: line 2: mapping values are not allowed in this context"],
    ["\ta: b", "yaml: found character that cannot start any token"],
    ["a: [b, c", "yaml: line 1: did not find expected ',' or ']'"],
    ["a: 'b", "yaml: found unexpected end of stream"],
    ["a: b\nc\nd: e", "yaml: line 3: could not find expected ':'"],
    ["- a\nb: c", "yaml: line 1: did not find expected '-' indicator"],
    ["a: *b", "yaml: unknown anchor 'b' referenced"],
    ["a: &b [*b]", "yaml: anchor 'b' value contains itself"],
    ["<<: 1", "yaml: map merge requires map or sequence of maps as the value"],
    ["a: !!int x", "yaml: cannot decode !!str `x` as a !!int"],
    ["%FOO\n---\na: b", "yaml: found unknown directive name"],
    ["{{ template }}", 'yaml: invalid map key: map[interface {}]interface {}{"template":interface {}(nil)}'],
    ["a: \u0007b", "yaml: control characters are not allowed"],
    ["a: |0\n  b", "yaml: found an indentation indicator equal to 0"],
    ['a: "\\q"', "yaml: found unknown escape character"],
    ["a: .nan", "json: unsupported value: NaN"],
    ["~: a", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "a"'],
  ])("refuses %j", (text, message) => {
    expect(problem(text)).toBe(message);
  });

  // Looking through all enclosing collections for each token would take a minute of a hostile document of 100 KB.
  test("reads many items inside of deeply nested lists", () => {
    const [depth, items] = [3_000, 40_000];
    const { value } = decodeYaml("[".repeat(depth) + "a,\n".repeat(items) + "]".repeat(depth));
    let inner = value;
    for (let level = 1; level < depth; level++) [inner] = inner as unknown[];
    expect(inner as unknown[]).toHaveLength(items);
  }, 180_000);
});
