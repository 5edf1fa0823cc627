import { describe, expect, test } from "bun:test";
import type { Node, NodeSelectorTerm, PodSpec } from "../../resource/builtin/index.ts";
import { tolerant } from "./daemon-pod.ts";
import { fitOf } from "./node-fit.ts";

function node(options: { labels?: Record<string, string>; taints?: readonly object[] } = {}): Node {
  const { labels = {}, taints } = options;
  return { metadata: { name: "one", labels }, spec: { taints } } as unknown as Node;
}

const pod: PodSpec = { containers: [] };

function requiring(...nodeSelectorTerms: NodeSelectorTerm[]): PodSpec {
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...pod, affinity: { nodeAffinity } };
}

const key = (operator: string, ...values: string[]) => ({ matchExpressions: [{ key: "zone", operator, values }] });

const LONG = "n".repeat(100);
const longNamed = { ...node().metadata, name: LONG };
const named = (name: string) => ({ key: "metadata.name", operator: "In", values: [name] });

describe("fitOf", () => {
  test.each([
    ["anything", pod, node(), true],
    ["its name", { ...pod, nodeName: "one" }, node(), true],
    ["another's name", { ...pod, nodeName: "two" }, node(), false],
    ["a label", { ...pod, nodeSelector: { zone: "a" } }, node({ labels: { zone: "a" } }), true],
    ["another label", { ...pod, nodeSelector: { zone: "b" } }, node({ labels: { zone: "a" } }), false],
    ["one term of two", requiring(key("In", "b"), key("Exists")), node({ labels: { zone: "a" } }), true],
    ["a value that is not there", requiring(key("NotIn", "a")), node({ labels: { zone: "a" } }), false],
    ["its name, which is long", requiring({ matchFields: [named(LONG)] }), { ...node(), metadata: longNamed }, true],
    ["an absent label", requiring(key("DoesNotExist")), node(), true],
    ["a number that is greater", requiring(key("Gt", "3")), node({ labels: { zone: "4" } }), true],
    ["a number that is not less", requiring(key("Lt", "4")), node({ labels: { zone: "4" } }), false],
    ["a term without requirements", requiring({}), node(), false],
  ])("%s", (_, spec, on, shouldRun) => {
    expect(fitOf(spec, on).shouldRun).toBe(shouldRun);
  });

  test.each([
    ["NoSchedule", { shouldRun: false, mayStay: true }],
    ["NoExecute", { shouldRun: false, mayStay: false }],
    ["PreferNoSchedule", { shouldRun: true, mayStay: true }],
  ])("a taint %s", (effect, fit) => {
    const tainted = node({ taints: [{ key: "dedicated", value: "db", effect }] });
    expect(fitOf(pod, tainted)).toEqual(fit);
    const tolerations = [{ key: "dedicated", operator: "Equal", value: "db" }];
    expect(fitOf({ ...pod, tolerations }, tainted)).toEqual({ shouldRun: true, mayStay: true });
  });

  test("a daemon runs on a node that is cordoned or not ready", () => {
    const taints = [
      { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" },
      { key: "node.kubernetes.io/not-ready", effect: "NoExecute" },
    ];
    expect(fitOf(tolerant(pod), node({ taints }))).toEqual({ shouldRun: true, mayStay: true });
  });
});
