import { describe, expect, test } from "bun:test";
import type { Pod, StatefulSet, StatefulSetUpdateStrategy } from "../../resource/builtin/index.ts";
import { Members } from "./members.ts";
import { nextToUpdate } from "./update.ts";

/**
 * `n` is a pod of the new revision and `o` one of the old. An upper-case letter stands for a pod that is not ready,
 * `x` for one that is being deleted.
 */
function podsOf(states: string): Pod[] {
  return states.split("").map((state, ordinal) => {
    const deletionTimestamp = state === "x" ? "2024-01-01T00:00:00Z" : undefined;
    const labels = { "controller-revision-hash": state.toLowerCase() === "n" ? "new" : "old" };
    const isReady = state === state.toLowerCase();
    const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
    const metadata = { name: `web-${ordinal}`, labels, deletionTimestamp };
    return { metadata, status: { phase: "Running", conditions } } as unknown as Pod;
  });
}

function next(states: string, updateStrategy: StatefulSetUpdateStrategy): string[] {
  const set = { metadata: { name: "web" }, spec: { replicas: states.length, updateStrategy } } as StatefulSet;
  const members = new Members(set, podsOf(states), Date.now());
  return nextToUpdate(members, "new").map(({ metadata }) => metadata.name);
}

describe("nextToUpdate", () => {
  test.each([
    ["ooo", 0, ["web-2"]],
    ["oon", 0, ["web-1"]],
    ["ooN", 0, []],
    ["oox", 0, []],
    ["Oon", 0, ["web-1"]],
    ["oon", 2, []],
    ["ooo", 2, ["web-2"]],
    ["nnn", 0, []],
  ])("%s with partition %p", (states, partition, names) => {
    expect(next(states, { type: "RollingUpdate", rollingUpdate: { partition } })).toEqual(names);
  });

  test.each([
    ["ooooo", 2, ["web-4", "web-3"]],
    ["ooooN", 2, ["web-3"]],
    ["Ooooo", 2, ["web-4"]],
    ["oooxN", 2, []],
    ["ooooo", "50%", ["web-4", "web-3"]],
    ["ooooo", "10%", ["web-4"]],
  ])("%s with maxUnavailable %p", (states, maxUnavailable, names) => {
    expect(next(states, { type: "RollingUpdate", rollingUpdate: { maxUnavailable } })).toEqual(names);
  });

  test("nothing on its own with OnDelete", () => {
    expect(next("ooo", { type: "OnDelete" })).toEqual([]);
  });
});
