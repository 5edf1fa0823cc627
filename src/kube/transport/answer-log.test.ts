import { expect, test } from "bun:test";
import { FakeClock } from "../../testing/fake-clock.ts";
import { AnswerLog } from "./answer-log.ts";

test("AnswerLog tells each warning once, several in one header, and unescapes", () => {
  const told: string[] = [];
  const log = new AnswerLog({ onWarning: (text) => told.push(text), clock: new FakeClock() });
  log.answered("GET", 200, '299 - "v1 is deprecated", 299 - "say \\"hello\\", please"');
  log.answered("GET", 200, '299 - "v1 is deprecated"');
  log.answered("GET", 200, '199 - "not one of ours"');
  expect(told).toEqual(["v1 is deprecated", 'say "hello", please']);
});

test("warnings that are always new are told a hundred times a minute, and no more than a hundred are kept", () => {
  const told: string[] = [];
  const clock = new FakeClock();
  const log = new AnswerLog({ onWarning: (text) => told.push(text), clock });
  const see = (from: number): void => {
    for (let turn = from; turn < from + 10_000; turn++)
      log.answered("GET", 200, `299 - "${turn}${"x".repeat(10_000)}"`);
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
  log.answered("GET", 200, `299 - "10000${"x".repeat(10_000)}"`);
  expect(told).toHaveLength(200);
  Bun.gc(true);
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(64);
});
