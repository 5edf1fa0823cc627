import { expect, test } from "bun:test";
import { compiled } from "./compile.ts";
import { unfinished } from "./syntax.ts";
import { int, listOf, string } from "./type.ts";

const variables = new Map([
  ["name", string],
  ["numbers", listOf(int)],
]);

const values =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

test.each([
  ["name + 1", "1:6: found no matching overload for '_+_' applied to '(string, int)'"],
  ["nobody.x", "1:1: undeclared reference to 'nobody' (in container '')"],
  ["name.size() > 1 ? 1 : 2", ""],
  ["[1].all(1, true)", "1:9: argument must be a simple name"],
  ["true)", "1:5: Syntax error: extraneous input ')' expecting <EOF>"],
  ["name == 'a' and true", "1:13: Syntax error: mismatched input 'and' expecting <EOF>"],
  ["[1, ", "1:5: Syntax error: missing ']' at '<EOF>'"],
  ["== 1", `1:1: Syntax error: extraneous input '==' expecting ${values}`],
  ["name..x", "1:6: Syntax error: no viable alternative at input '..'"],
  ["for", "1:1: reserved identifier: for"],
  ["name.matches('[')", "1:14: invalid matches argument"],
  ["'a'.format([1])", "1:11: too many arguments supplied to string.format (expected 0, got 1)"],
  ["'%s-%d'.format(['a', 1]) == name", ""],
  [
    "'%d'.format(['a']) == name",
    "1:14: error during formatting: decimal clause can only be used on integers, was given string",
  ],
  ["'%q'.format([1]) == name", '1:12: could not parse formatting clause: unrecognized formatting clause "q"'],
  [".nobody", "1:2: undeclared reference to '.nobody' (in container '')"],
  [".name == 'a'", ""],
  ["[.name, 'b'].exists(x, x == .name)", ""],
  ["name.`a-b` == 1", "1:6: unsupported syntax: '`'"],
  ["`a`", `1:1: Syntax error: mismatched input '\`a\`' expecting ${values}`],
  ["name == 'ab\\q'", "1:9: Syntax error: token recognition error at: ''ab\\q'"],
  ["name == 'ab\\x'", "1:9: Syntax error: token recognition error at: ''ab\\x''"],
  ["99999999999999999999 == 1", "1:1: invalid int literal"],
  ["1 > -9223372036854775808", ""],
  ["1 > -9223372036854775809", "1:5: invalid int literal"],
  ["18446744073709551616u == 1u", "1:1: invalid uint literal"],
  ["1e999 == 1.0", "1:1: invalid double literal"],
  ["name in ['a','b'", "1:17: Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
  ["numbers[0", "1:10: Syntax error: missing ']' at '<EOF>'"],
])("%s", (text, problem) => {
  const made = compiled(text, variables);
  if (problem === "") expect(typeof made).toBe("object");
  else expect(made).toStartWith(`ERROR: <input>:${problem}\n`);
});

test("all mistakes are told, in the order of their places", () => {
  const made = compiled("nobody + name.size(1) + nothing", variables);
  expect(String(made).match(/undeclared reference|no matching overload/g)).toEqual([
    "undeclared reference",
    "no matching overload",
    "undeclared reference",
  ]);
});

test.each([
  ["Object{", "1:8: Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"],
  ["Object{name", "1:12: Syntax error: mismatched input '<EOF>' expecting ':'"],
])("a message that ends too soon: %s", (text, problem) => {
  expect(unfinished(text)).toStartWith(`ERROR: <input>:${problem}\n`);
});
