import { expect, test } from "bun:test";
import { FakeClock } from "../../testing/fake-clock.ts";
import { Warnings } from "./answer-log.ts";

test("Warnings tells each text once, several in one header, and unescapes", () => {
  const told: string[] = [];
  const warnings = new Warnings((text) => told.push(text), new FakeClock());
  warnings.see('299 - "v1 is deprecated", 299 - "say \\"hello\\", please"');
  warnings.see('299 - "v1 is deprecated"');
  warnings.see('199 - "not one of ours"');
  expect(told).toEqual(["v1 is deprecated", 'say "hello", please']);
});

test("Warnings that are always new are told a hundred times a minute, and no more than a hundred are kept", () => {
  const told: string[] = [];
  const clock = new FakeClock();
  const warnings = new Warnings((text) => told.push(text), clock);
  const see = (from: number): void => {
    for (let turn = from; turn < from + 10_000; turn++) warnings.see(`299 - "${turn}${"x".repeat(10_000)}"`);
  };
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  see(0);
  expect(told).toHaveLength(100);
  expect(told[0]).toHaveLength(1_024);
  expect(told.at(-1)).toEndWith("(more of the next minute are left out)");
  clock.advance(60_000);
  see(10_000);
  expect(told).toHaveLength(200);
  warnings.see(`299 - "10000${"x".repeat(10_000)}"`);
  expect(told).toHaveLength(200);
  Bun.gc(true);
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(64);
});
