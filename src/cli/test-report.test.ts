import { expect, test } from "bun:test";
import { ReportFilter, reportLine } from "./test-report.ts";

function filtered(...pieces: string[]): string {
  let out = "";
  const filter = new ReportFilter((text) => void (out += text));
  for (const piece of pieces) filter.push(piece);
  filter.end();
  return out;
}

test("ReportFilter shows a report behind the failure that follows it, and no other", () => {
  const text = `a\n${reportLine("one")}(pass) first [1ms]\n\n${reportLine("two\nlines")}(fail) second [2ms]\n(fail) third\n`;
  const shown = "a\n(pass) first [1ms]\n\n(fail) second [2ms]\n\n  two\n  lines\n\n(fail) third\n";
  expect(filtered(text)).toBe(shown);
  expect(filtered(...text.split(/(?:)/))).toBe(shown);
});

test("ReportFilter knows results in colour and passes on what has no line break yet", () => {
  const failed = "\u001B[0m\u001B[31m✗\u001B[0m \u001B[1msecond\u001B[0m";
  expect(filtered(`${reportLine("seen")}${failed}\n\nRan`)).toBe(`${failed}\n\n  seen\n\n\nRan`);
});

test("ReportFilter leaves out the program's own source, which is for machines", () => {
  const source = `29 |   user:\n30 | ${"x".repeat(900)}\n31 | const a=1\n        ^\nerror: no\n`;
  expect(filtered(`a.test.ts:\n\n${source}(fail) one\n`)).toBe("a.test.ts:\n\nerror: no\n(fail) one\n");
  const own = "1 | // a\n2 | throw new Error()\n        ^\nerror: no\n";
  expect(filtered(own)).toBe(own);
  expect(filtered(...own.split(/(?:)/))).toBe(own);
  expect(filtered(`\u001B[0m\u001B[2m1 | \u001B[0m${"x".repeat(900)}\n\nerror: no\n`)).toBe("\nerror: no\n");
});
