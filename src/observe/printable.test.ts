import { expect, test } from "bun:test";
import { onOneLine, printable } from "./printable.ts";

test("printable leaves nothing that a terminal acts on, and texts of all languages as they are", () => {
  expect(printable("größe-尺寸-🧭.ts")).toBe("größe-尺寸-🧭.ts");
  expect(printable("a\nb\r\tc")).toBe(String.raw`a\nb\r\tc`);
  expect(printable("\u001b[31m\u009b2J\u007f\u0000")).toBe(String.raw`\u001b[31m\u009b2J\u007f\u0000`);
  expect(printable("gpj.\u202ets\u2028")).toBe(String.raw`gpj.\u202ets\u2028`);
});

test("onOneLine puts a blank in place of line ends with the blanks around them", () => {
  expect(onOneLine("a:  \n\n\t b\r\nc  d\n")).toBe("a: b c  d ");
});
