import { expect, test } from "bun:test";
import { celEnvironment } from "../cel/environment.ts";
import { matchAsGo } from "../cel/matches.ts";
import { goRegExp, goRegExpError } from "./go-regexp.ts";

/** Each of these keeps a backtracking matcher busy for longer than anybody waits. */
const attacks: readonly (readonly [string, string])[] = [
  ["^(a+)+$", `${"a".repeat(5_000)}!`],
  ["^(a|aa)+$", `${"a".repeat(5_000)}!`],
  ["^([a-zA-Z0-9]+\\s?)*$", `${"a".repeat(5_000)}!`],
  [`^${"a?".repeat(60)}${"a".repeat(60)}b$`, "a".repeat(60)],
  ["(.*)*x", "y".repeat(5_000)],
];

test("goRegExp takes time in proportion to the text", () => {
  const began = performance.now();
  for (const [pattern, text] of attacks) expect(goRegExp(pattern)!.test(text)).toBe(false);
  for (const [pattern, text] of attacks) {
    const parsed = celEnvironment().parse(`self.matches(${JSON.stringify(pattern)})`);
    matchAsGo(parsed.ast);
    expect(parsed({ self: text })).toBe(false);
  }
  expect(performance.now() - began).toBeLessThan(20_000);
});

test("goRegExp means what Go means", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["^a$", "a\n", false],
    ["a.c", "a\nc", false],
    ["(?s)a.c", "a\nc", true],
    ["(?i)^ABC\\z", "abc", true],
    ["^\\Qa.b\\E$", "a.b", true],
    ["^\\Qa.b\\E$", "axb", false],
    ["^[[:alpha:]]+$", "abc", true],
    ["^\\w+$", "é", false],
    ["^\\pL+$", "é", true],
    ["^(?P<year>\\d{4})$", "2026", true],
    ["^(one|two)$", "two", true],
    ["^(one|two)$", "two\n", false],
    ["one|two", "a two b", true],
    ["^[-a-z]+$", "a-b", true],
    ["[a\\-]", "-", true],
  ];
  for (const [pattern, text, found] of cases)
    expect([pattern, goRegExp(pattern)?.test(text)]).toEqual([pattern, found]);
  expect(goRegExp("[a-c]+")!.all("ab1c22a")).toEqual(["ab", "c", "a"]);
  expect(goRegExp("one|two")!.all("one two")).toEqual(["one", "two"]);
});

test("goRegExpError says it in Go's words", () => {
  const cases: Readonly<Record<string, string>> = {
    "(?=a)": "error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
    "\\1": "error parsing regexp: invalid escape sequence: `\\1`",
    "[a": "error parsing regexp: missing closing ]: `[a`",
    "a)": "error parsing regexp: unexpected ): `a)`",
    "*a": "error parsing regexp: missing argument to repetition operator: `*`",
    "a{1001}": "error parsing regexp: invalid repeat count: `{1001}`",
    "(a": "error parsing regexp: missing closing ): `(a`",
  };
  for (const [pattern, message] of Object.entries(cases)) expect(goRegExpError(pattern)).toBe(message);
  expect(goRegExpError("^a$")).toBeUndefined();
});
