import { describe, expect, test } from "bun:test";
import type { DaemonSet, Node, Pod, RollingUpdateDaemonSet } from "../../resource/builtin/index.ts";
import { nextStep } from "./rolling-update.ts";

/**
 * One letter for each pod of a node: `n` was made from the new template and `o` from the old one. An upper-case
 * letter stands for a pod that is not ready, `x` for one that is being deleted.
 */
function step(
  places: readonly string[],
  rollingUpdate: RollingUpdateDaemonSet,
): { remove: string[]; create: string[] } {
  const template = { spec: { containers: [] } };
  const spec = { template, updateStrategy: { type: "RollingUpdate", rollingUpdate } };
  const set = { metadata: { name: "agent" }, spec } as unknown as DaemonSet;
  const nodes = places.map((_, index) => ({ metadata: { name: `node-${index}` } }) as Node);
  const byNode = new Map(
    places.map((states, index) => [`node-${index}`, states.split("").map((state) => pod(index, state))]),
  );
  const { remove, create } = nextStep(set, { nodes, byNode, hash: "new", now: Date.now() });
  return { remove: remove.map(({ metadata }) => metadata.name), create: [...create] };
}

function pod(index: number, state: string): Pod {
  const deletionTimestamp = state === "x" ? "2024-01-01T00:00:00Z" : undefined;
  const labels = { "controller-revision-hash": state.toLowerCase() === "n" ? "new" : "old" };
  const conditions = [{ type: "Ready", status: state === state.toLowerCase() ? "True" : "False" }];
  return {
    metadata: { name: `${state}-${index}`, labels, deletionTimestamp },
    status: { conditions },
  } as unknown as Pod;
}

describe("nextStep", () => {
  test.each([
    ["one of all", ["o", "o", "o"], 1, ["o-0"]],
    ["none while one is missing", ["o", "", "o"], 1, []],
    ["none while a new one is not ready", ["o", "N", "o"], 1, []],
    ["an old one that is not ready, besides", ["o", "O", "o"], 1, ["O-1"]],
    ["two of all", ["o", "o", "o"], 2, ["o-0", "o-1"]],
    ["a share, rounded up", ["o", "o", "o"], "34%", ["o-0", "o-1"]],
    ["none that are on their way out", ["x", "o", "o"], 1, []],
    ["none at the end", ["n", "n", "n"], 1, []],
  ])("without a surge removes %s", (_, places, maxUnavailable, remove) => {
    expect(step(places, { maxUnavailable })).toEqual({ remove, create: [] });
  });

  test.each([
    ["one more", ["o", "o", "o"], [], ["node-0"]],
    ["none while the new one is not ready", ["oN", "o", "o"], [], []],
    ["the old one when the new one is ready, then the next", ["on", "o", "o"], ["o-0"], ["node-1"]],
    ["a new one at once where the old one is not ready", ["o", "O", "oN"], [], ["node-1"]],
    ["nothing at the end", ["n", "n", "n"], [], []],
  ])("with a surge: %s", (_, places, remove, create) => {
    expect(step(places, { maxSurge: 1, maxUnavailable: 0 })).toEqual({ remove, create });
  });
});
