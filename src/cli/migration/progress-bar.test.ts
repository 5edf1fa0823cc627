import { expect, test } from "bun:test";
import { ProgressBar } from "./progress-bar.ts";

function shown(isTerminal: boolean): { bar: ProgressBar; lines: string[]; pass: (ms: number) => void } {
  const lines: string[] = [];
  let now = 0;
  const bar = new ProgressBar({ isTerminal, write: (text) => lines.push(text), now: () => now });
  return { bar, lines, pass: (ms) => void (now += ms) };
}

test("on a terminal a bar grows in its place, and goes", () => {
  const { bar, lines, pass } = shown(true);
  bar.show(0, 1_000);
  pass(1_000);
  bar.show(250, 1_000);
  expect(lines.at(-1)).toBe("\r[########......................] 25%  250 of 1,000 objects, 250/s, 3 s left");
  pass(99);
  bar.show(260, 1_000);
  expect(lines).toHaveLength(2);
  pass(1);
  bar.show(1_000, 1_000);
  expect(lines.at(-1)?.trimEnd()).toBe(
    "\r[##############################] 100%  1,000 of 1,000 objects, 909/s, 0 s left",
  );
  bar.clear();
  expect(lines.at(-1)).toMatch(/^\r +\r$/);
});

test("elsewhere it is a line now and then", () => {
  const { bar, lines, pass } = shown(false);
  bar.show(0, undefined);
  pass(9_999);
  bar.show(5_000, undefined);
  pass(1);
  bar.show(5_000, 600_000);
  expect(lines).toEqual([
    "0 objects, 0/s\n",
    "[..............................] 0%  5,000 of 600,000 objects, 500/s, 19 min 50 s left\n",
  ]);
  bar.clear();
  expect(lines).toHaveLength(2);
});

test("what an earlier run has done does not count for the speed", () => {
  const { bar, lines, pass } = shown(true);
  bar.show(900, 1_000);
  pass(1_000);
  bar.show(950, 1_000);
  expect(lines.at(-1)).toContain("950 of 1,000 objects, 50/s, 1 s left");
});
