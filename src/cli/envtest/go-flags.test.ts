import { array, assert, constantFrom, double, integer, oneof, property, record, string } from "fast-check";
import { describe, expect, test } from "bun:test";
import { FlagError, type FlagType, goDuration, parseGoFlags } from "./go-flags.ts";

const types: ReadonlyMap<string, FlagType> = new Map([
  ["on", "boolean"],
  ["count", "integer"],
  ["rate", "number"],
  ["ttl", "duration"],
  ["bind-address", "address"],
  ["file", "text"],
  ["key", "texts"],
  ["modes", "list"],
]);

function parse(...args: string[]): Record<string, readonly string[]> {
  return Object.fromEntries(parseGoFlags(args, { types, letters: { c: "count" } }));
}

describe("parseGoFlags", () => {
  test("takes values after a sign and as the next argument, and booleans without any", () => {
    expect(parse("--file=a", "--count", "-3", "--on", "--ttl=1h0m0s")).toEqual({
      file: ["a"],
      count: ["-3"],
      on: ["true"],
      ttl: ["1h0m0s"],
    });
    expect(parse("--on=F", "--file=", "--bind_address=::1")).toEqual({
      on: ["F"],
      file: [""],
      "bind-address": ["::1"],
    });
    expect(parse("-c", "2")).toEqual({ count: ["2"] });
    expect(parse("-c2")).toEqual({ count: ["2"] });
    expect(parse("-c=2")).toEqual({ count: ["2"] });
    expect(parse("--file=--on", "--")).toEqual({ file: ["--on"] });
  });

  test("the last value counts, and lists grow", () => {
    expect(parse("--file=a", "--file=b", "--modes=a,b", "--modes=c", "--modes=", "--key=a,b", "--key=c")).toEqual({
      file: ["b"],
      modes: ["a", "b", "c"],
      key: ["a,b", "c"],
    });
  });

  test.each([
    [["--insecure-port=0"], "unknown flag: --insecure-port"],
    [["--insecure-port", "0"], "unknown flag: --insecure-port"],
    [["-x"], "unknown shorthand flag: 'x' in -x"],
    [["--file"], "flag needs an argument: --file"],
    [["word", "--on"], 'unexpected arguments ["word"]'],
    [["--on", "false"], 'unexpected arguments ["false"]'],
    [["--", "--on"], 'unexpected arguments ["--on"]'],
    [["-"], 'unexpected arguments ["-"]'],
    [["--on=yes"], 'invalid argument "yes" for "--on" flag: expected true or false'],
    [["--count=1.5"], 'invalid argument "1.5" for "--count" flag: expected an integer'],
    [["--rate="], 'invalid argument "" for "--rate" flag: expected a number'],
    [["--ttl=1"], 'invalid argument "1" for "--ttl" flag: expected a duration such as 1m30s'],
    [["--bind-address=localhost"], 'invalid argument "localhost" for "--bind-address" flag: expected an IP address'],
  ])("%j: %s", (args, message) => {
    expect(() => parse(...args)).toThrow(new FlagError(message));
  });

  test("what a program writes as flags comes back, in either form", () => {
    const text = string({ maxLength: 6 });
    const flag = oneof(
      record({ name: constantFrom("file", "key"), value: text }),
      record({ name: constantFrom("count"), value: integer().map(String) }),
      record({ name: constantFrom("rate"), value: double({ noNaN: true, noDefaultInfinity: true }).map(String) }),
    );
    assert(
      property(array(flag), array(constantFrom("=", " ")), (flags, joints) => {
        const expected = new Map<string, string[]>();
        const args = flags.flatMap(({ name, value }, index) => {
          expected.set(name, name === "key" ? [...(expected.get(name) ?? []), value] : [value]);
          return joints[index] === " " ? [`--${name}`, value] : [`--${name}=${value}`];
        });
        expect(parse(...args)).toEqual(Object.fromEntries(expected));
      }),
    );
  });
});

test("goDuration reads Go's durations", () => {
  const texts = ["0", "1.5s", "1h0m2s", "100ms", "-1m", "250us", "1", "s", "", "1h-2m"];
  expect(texts.map((text) => goDuration(text))).toEqual([
    0,
    1500,
    3_602_000,
    100,
    -60_000,
    0.25,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
