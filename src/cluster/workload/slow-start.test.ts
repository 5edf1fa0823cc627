import { expect, test } from "bun:test";
import { slowStart } from "./slow-start.ts";

test("slowStart doubles its batches", async () => {
  const batches: number[] = [];
  let running = 0;
  await slowStart(10, async () => {
    running++;
    await Promise.resolve();
    if (running > 0) batches.push(running);
    running = 0;
  });
  expect(batches).toEqual([1, 2, 4, 3]);
});

test("slowStart ends with the batch that failed", async () => {
  let started = 0;
  const failing = slowStart(100, () => Promise.reject(new Error(`${++started}`)));
  expect(failing).rejects.toThrow("1");
  await failing.catch(() => undefined);
  expect(started).toBe(1);
});
