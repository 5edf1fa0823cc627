import { expect, test } from "bun:test";
import type { Pod } from "../../resource/builtin/index.ts";
import { inDeletionOrder } from "./deletion-order.ts";

const now = Date.parse("2026-01-01T01:00:00Z");

interface Traits {
  readonly node?: string | undefined;
  readonly phase?: string;
  readonly ready?: string | false;
  readonly cost?: string;
  readonly restarts?: number;
  readonly created?: string;
}

function pod(name: string, traits: Traits = {}): Pod {
  const { node = "one", phase = "Running", ready = "00:00:00", cost, restarts = 0, created = "00:00:00" } = traits;
  const status = ready === false ? "False" : "True";
  const nodeName = "node" in traits && traits.node === undefined ? {} : { nodeName: node };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid: name,
      resourceVersion: "1",
      creationTimestamp: `2026-01-01T${created}Z`,
      annotations: cost === undefined ? {} : { "controller.kubernetes.io/pod-deletion-cost": cost },
    },
    spec: { containers: [], ...nodeName },
    status: {
      phase,
      conditions: [{ type: "Ready", status, lastTransitionTime: `2026-01-01T${ready || "00:00:00"}Z` }],
      containerStatuses: [{ name: "c", image: "", imageID: "", ready: true, restartCount: restarts }],
    },
  };
}

test.each([
  ["without a node", { node: undefined }],
  ["not running", { phase: "Pending" }],
  ["not ready", { ready: false }],
  ["cheap", { cost: "-1" }],
  ["ready for a short time", { ready: "00:59:59" }],
  ["often restarted", { restarts: 3 }],
  ["young", { created: "00:59:59" }],
] satisfies [string, Traits][])("inDeletionOrder puts a pod first that is %s", (_, traits) => {
  const pods = [pod("a"), pod("z", traits), pod("b")];
  expect(inDeletionOrder(pods, { related: pods, now }).map(({ metadata }) => metadata.name)).toEqual(["z", "a", "b"]);
});

test("inDeletionOrder puts pods first that are doubled on their node", () => {
  const pods = [pod("a", { node: "two" }), pod("y"), pod("z")];
  const order = inDeletionOrder(pods, { related: pods, now });
  expect(order.map(({ metadata }) => metadata.name)).toEqual(["y", "z", "a"]);
});
