import { expect, test } from "bun:test";
import { decodeYaml } from "./decode-yaml.ts";
import { encodeYaml } from "./encode-yaml.ts";

test("encodeYaml folds, quotes and orders as the server's encoder does", () => {
  const value = {
    b10: "yes",
    b9: "no: it is",
    a: ["x", ["y", {}], { d: null, c: [] }],
    "f:metadata": { ".": {}, 'k:{"type":"Ready"}': 1.5 },
    message:
      "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, whatever else was asked for",
    plain: "a text that is long enough to be folded because it goes on and on far beyond the eightieth column of it",
    text: "one\n  two\n",
    kept: " one\ntwo",
    time: "2020-01-02T03:04:05Z",
    empty: "",
    odd: "a\tb",
    dash: "- x",
    true: true,
  };
  const yaml = encodeYaml(JSON.stringify(value));
  expect(yaml).toBe(
    [
      "a:",
      "- x",
      '- - "y"',
      "  - {}",
      "- c: []",
      "  d: null",
      "b9: 'no: it is'",
      'b10: "yes"',
      "dash: '- x'",
      'empty: ""',
      "f:metadata:",
      "  .: {}",
      '  k:{"type":"Ready"}: 1.5',
      "kept: |2-",
      "   one",
      "  two",
      "message: 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan,",
      "  whatever else was asked for'",
      'odd: "a\\tb"',
      "plain: a text that is long enough to be folded because it goes on and on far beyond",
      "  the eightieth column of it",
      "text: |",
      "  one",
      "    two",
      'time: "2020-01-02T03:04:05Z"',
      '"true": true',
      "",
    ].join("\n"),
  );
  expect(decodeYaml(yaml).value).toEqual(value);
});
