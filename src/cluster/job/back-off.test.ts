import { describe, expect, test } from "bun:test";
import type { Pod } from "../../resource/builtin/index.ts";
import { timestamp } from "../workload/time.ts";
import { failuresAfter, finishedAt, remaining } from "./back-off.ts";

const second = 1000;

/** A pod whose container ended at the given time. */
function ended(time: number): Pod {
  const containerStatuses = [{ name: "web", state: { terminated: { finishedAt: timestamp(time) } } }];
  return { metadata: { name: "work" }, spec: {}, status: { containerStatuses } } as unknown as Pod;
}

describe("failuresAfter", () => {
  test("counts on without a success", () => {
    const first = failuresAfter(undefined, { succeeded: [], failed: [ended(5 * second)] });
    expect(first).toEqual({ count: 1, last: 5 * second });
    const next = failuresAfter(first, { succeeded: [], failed: [ended(9 * second), ended(7 * second)] });
    expect(next).toEqual({ count: 3, last: 9 * second });
  });

  test("begins anew with a success", () => {
    const before = { count: 4, last: 2 * second };
    const failed = [ended(3 * second), ended(8 * second)];
    expect(failuresAfter(before, { succeeded: [ended(5 * second)], failed })).toEqual({ count: 1, last: 8 * second });
    expect(failuresAfter(before, { succeeded: [ended(5 * second)], failed: [] }).count).toBe(0);
  });

  test("stays when nothing ended", () => {
    const before = { count: 2, last: 4 * second };
    expect(failuresAfter(before, { succeeded: [], failed: [] })).toEqual(before);
  });
});

describe("remaining", () => {
  test.each([
    [0, 0],
    [1, 10],
    [2, 20],
    [4, 80],
    [7, 600],
    [100, 600],
  ])("after %p failures it is %p s", (count, seconds) => {
    expect(remaining({ count, last: 0 }, 0)).toBe(seconds * second);
  });

  test("shrinks with time", () => {
    expect(remaining({ count: 1, last: 0 }, 4 * second)).toBe(6 * second);
    expect(remaining({ count: 1, last: 0 }, 30 * second)).toBe(0);
  });
});

describe("finishedAt", () => {
  test("falls back to the readiness, the deletion and the creation", () => {
    const pod = (metadata: object, conditions: object[] = []) =>
      ({ metadata, spec: {}, status: { conditions } }) as unknown as Pod;
    const created = { creationTimestamp: timestamp(second) };
    expect(finishedAt(pod(created))).toBe(second);
    const deleted = { ...created, deletionTimestamp: timestamp(40 * second), deletionGracePeriodSeconds: 30 };
    expect(finishedAt(pod(deleted))).toBe(10 * second);
    const unready = { type: "Ready", status: "False", lastTransitionTime: timestamp(7 * second) };
    expect(finishedAt(pod(deleted, [unready]))).toBe(7 * second);
  });
});
