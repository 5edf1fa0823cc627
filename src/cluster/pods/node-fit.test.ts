import { expect, test } from "bun:test";
import type { Node, Pod } from "../../resource/builtin/index.ts";
import { unfit } from "./node-fit.ts";

const meta = (name: string): { name: string; uid: string; resourceVersion: string; creationTimestamp: string } => ({
  name,
  uid: name,
  resourceVersion: "1",
  creationTimestamp: "",
});

function node(spec: Node["spec"] = {}): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { ...meta("one"), labels: { disk: "ssd", size: "7" } }, spec };
}

function pod(spec: Partial<Pod["spec"]> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...meta("web"), namespace: "default" },
    spec: { containers: [], ...spec },
  };
}

const affinity = (term: object): Partial<Pod["spec"]> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
});
const noMatch = "node(s) didn't match Pod's node affinity/selector";
const untolerated = "node(s) had untolerated taint(s)";
const taint = { key: "team", value: "a", effect: "NoSchedule" };

test.each([
  ["no wish", pod(), node(), undefined],
  ["a label it has", pod({ nodeSelector: { disk: "ssd" } }), node(), undefined],
  ["a label it has not", pod({ nodeSelector: { disk: "hdd" } }), node(), noMatch],
  [
    "its name",
    pod(affinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["one"] }] })),
    node(),
    undefined,
  ],
  [
    "another name",
    pod(affinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["two"] }] })),
    node(),
    noMatch,
  ],
  [
    "a number",
    pod(affinity({ matchExpressions: [{ key: "size", operator: "Gt", values: ["6"] }] })),
    node(),
    undefined,
  ],
  [
    "too small a number",
    pod(affinity({ matchExpressions: [{ key: "size", operator: "Gt", values: ["7"] }] })),
    node(),
    noMatch,
  ],
  ["an empty term", pod(affinity({})), node(), noMatch],
  ["a cordoned node", pod(), node({ unschedulable: true }), "node(s) were unschedulable"],
  [
    "a cordoned node, tolerated",
    pod({ tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" }] }),
    node({ unschedulable: true }),
    undefined,
  ],
  ["a taint", pod(), node({ taints: [taint] }), untolerated],
  ["a taint, tolerated", pod({ tolerations: [{ key: "team", value: "a" }] }), node({ taints: [taint] }), undefined],
  [
    "a taint of another value",
    pod({ tolerations: [{ key: "team", value: "b" }] }),
    node({ taints: [taint] }),
    untolerated,
  ],
  ["every taint tolerated", pod({ tolerations: [{ operator: "Exists" }] }), node({ taints: [taint] }), undefined],
  ["a taint that only prefers", pod(), node({ taints: [{ ...taint, effect: "PreferNoSchedule" }] }), undefined],
])("unfit with %s", (_, pod, node, why) => {
  expect(unfit(pod, node)).toBe(why);
});
