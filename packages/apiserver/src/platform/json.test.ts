/** The way of Node 20, which no runtime of the other tests takes. */
import { expect, test } from "bun:test";
import { assert, json, property } from "fast-check";
import * as native from "./bun/json.ts";

/** The part as it is loaded where JSON has no raw values. */
async function withoutRawValues(): Promise<typeof native> {
  const raw = Object.getOwnPropertyDescriptor(JSON, "rawJSON")!;
  Reflect.deleteProperty(JSON, "rawJSON");
  try {
    return await import("./node/json.ts");
  } finally {
    Object.defineProperty(JSON, "rawJSON", raw);
  }
}

const own = await withoutRawValues();

function sources(part: typeof native, text: string): unknown {
  const seen: unknown[] = [];
  const value = part.parseWithSource(text, (key, one, { source }) => {
    seen.push([key, typeof one, source]);
    return one;
  });
  return [value, seen.filter((entry) => (entry as string[])[2] !== undefined || (entry as string[])[1] === "string")];
}

test("without raw values a reviver gets the same texts, and a writer writes the same text", () => {
  const odd = '{"a":1e2,"1":"2 \\"3\\" 4","b":[-0,1.0,12345678901234567890,{"c":"1"}],"d":-1.5E-3,"e":"\\\\"}';
  expect(sources(own, odd)).toEqual(sourcesWithStrings(odd));
  const value = { a: own.rawJson("1e2"), b: ["x", own.rawJson("12345678901234567890")], c: '"1"' };
  expect(own.stringify(value)).toBe('{"a":1e2,"b":["x",12345678901234567890],"c":"\\"1\\""}');
  expect(() => own.parseWithSource("{1}", (_, one) => one)).toThrow(SyntaxError);
  assert(
    property(json(), (text) => {
      expect(sources(own, text)).toEqual(sourcesWithStrings(text));
    }),
  );
});

/** The runtime gives strings, too, their text; only that of numbers counts. */
function sourcesWithStrings(text: string): unknown {
  const numbers = (key: string, one: unknown, source: string | undefined): unknown[] => [
    key,
    typeof one,
    typeof one === "number" ? source : undefined,
  ];
  const seen: unknown[][] = [];
  const value = native.parseWithSource(text, (key, one, { source }) => {
    seen.push(numbers(key, one, source));
    return one;
  });
  return [value, seen.filter(([, type, source]) => source !== undefined || type === "string")];
}
