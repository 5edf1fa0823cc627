import { expect, test } from "bun:test";
import { hasTooManyValues } from "./json-values.ts";

const MIB = 1024 * 1024;
const listOf = (item: string, bytes: number): string =>
  `[${Array(Math.floor(bytes / (item.length + 1)))
    .fill(item)
    .join(",")}]`;

test.each(["{}", "[]", "0", '""', "[[]]", '{"a":0}'])(
  "hasTooManyValues says yes to 16 MiB of %s, as bytes and as text",
  (item) => {
    const text = listOf(item, 16 * MIB);
    expect(hasTooManyValues(text)).toBe(true);
    expect(hasTooManyValues(Buffer.from(text))).toBe(true);
  },
);

test("hasTooManyValues says no to real objects, and to commas and brackets in strings", () => {
  const managed = { "f:metadata": { "f:labels": { ".": {}, "f:app": {} } }, "f:spec": { "f:replicas": {} } };
  const real = {
    metadata: {
      name: "a-name",
      uid: crypto.randomUUID(),
      labels: { app: "x" },
      managedFields: [{ fieldsV1: managed }],
    },
  };
  for (const item of [
    real,
    { data: { "values.csv": "0,1,[{,".repeat(500) } },
    { data: { json: '{"a":[0,0,\\"]'.repeat(300) } },
  ]) {
    expect(hasTooManyValues(listOf(JSON.stringify(item), 16 * MIB))).toBe(false);
  }
});

test("hasTooManyValues says no to what is short, without a look", () => {
  expect(hasTooManyValues(listOf("0", 2 * MIB))).toBe(false);
  expect(hasTooManyValues("")).toBe(false);
});
