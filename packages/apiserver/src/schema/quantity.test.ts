import { expect, test } from "bun:test";
import { formatQuantity, parseQuantity, roundedToMilli } from "./quantity.ts";

test.each([
  ["0", "0"],
  ["1000m", "1"],
  ["0.1", "100m"],
  ["1500m", "1500m"],
  ["1.5Gi", "1536Mi"],
  ["1024Ki", "1Mi"],
  ["1023Ki", "1023Ki"],
  ["0.5Ki", "512"],
  ["1e3", "1e3"],
  ["12e5", "1200e3"],
  ["1000000", "1M"],
  ["-5", "-5"],
  ["+1.50", "1500m"],
  ["0.0000000001", "1n"],
  ["100u", "100u"],
  ["1E", "1E"],
])("formatQuantity writes %p as the server does", (text, expected) => {
  const parsed = parseQuantity(text);
  expect(parsed instanceof Error ? parsed.message : formatQuantity(parsed)).toBe(expected);
});

test.each(["", "x", "1x", "1..2", "1e", "--1", "1 Gi"])("parseQuantity refuses %p", (text) => {
  expect(parseQuantity(text)).toBeInstanceOf(Error);
});

test.each([
  ["1u", "1m"],
  ["0.000001", "1m"],
  ["1500001u", "1501m"],
  ["100e-9", "1e-3"],
  ["-1n", "-1m"],
  ["8.918", "8.918"],
  ["1500m", "1500m"],
  ["1E", "1E"],
])("roundedToMilli makes %p %p", (text, expected) => {
  expect(roundedToMilli(text)).toBe(expected);
});
