import { expect, test } from "bun:test";
import { FakeClock } from "../testing/fake-clock.ts";
import { Progress } from "./progress.ts";

test("Progress draws a bar on a terminal, and takes it away", () => {
  const written: string[] = [];
  const clock = new FakeClock();
  const progress = new Progress({ write: (text) => written.push(text), isTerminal: true, clock });
  progress.begin("Packing", 4 * 2 ** 20);
  progress.advance(2 ** 20);
  expect(written).toHaveLength(1); // not ten times in a tenth of a second
  clock.advance(200);
  progress.advance(2 ** 20);
  expect(written[1]).toBe(`\r\u001B[KPacking [${"█".repeat(12)}${" ".repeat(12)}] 2.0 of 4.0 MiB`);
  progress[Symbol.dispose]();
  expect(written.at(-1)).toBe("\r\u001B[K");
});

test("Progress writes a line for each step elsewhere", () => {
  const written: string[] = [];
  const progress = new Progress({ write: (text) => written.push(text), isTerminal: false });
  progress.begin("Packing", 100);
  progress.advance(50);
  progress.begin("Writing");
  progress[Symbol.dispose]();
  expect(written).toEqual(["Packing\n", "Writing\n"]);
});
