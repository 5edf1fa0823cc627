/** DaemonSets on nodes of their own. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Stage, Until } from "../stage.ts";
import { every, hasStatus, template, workload } from "../workloads.ts";

/** Runs on the situation's nodes alone. */
function daemon(stage: Stage, options: DaemonOptions = {}): Loose {
  const { image = "web:1", annotations, spec = {} } = options;
  const tolerations = [{ key: "situation", operator: "Equal", value: stage.namespace, effect: "NoSchedule" }];
  const pod = { nodeSelector: { situation: stage.namespace }, tolerations };
  return workload("apps/v1", "DaemonSet")("agent", {
    template: template("agent", { image, ...(annotations && { annotations }), spec: pod }),
    ...spec,
  });
}

interface DaemonOptions {
  readonly image?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Loose;
}

async function addNode(stage: Stage, name: string, spec: Loose = {}): Promise<void> {
  const labels = { situation: stage.namespace };
  const taints = [{ key: "situation", value: stage.namespace, effect: "NoSchedule" }];
  await stage.create({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: nodeName(stage, name), labels },
    spec: { taints, ...spec },
  });
}

function nodeName(stage: Stage, name: string): string {
  return `${name}.${stage.namespace}`;
}

/** Which pod comes first in a list is chance, and messages name its node. */
function podOn(stage: Stage, name: string): Loose {
  return stage.pods().find(({ spec }) => spec.nodeName === nodeName(stage, name));
}

/** With nodes `a`, `b` and `c` for as long as it takes. */
function onNodes(name: string, run: (stage: Stage) => Promise<void>, options = {}): Situation {
  const play = async (stage: Stage) => {
    const names = ["a", "b", "c"];
    try {
      for (const node of names) await addNode(stage, node);
      await run(stage);
    } finally {
      for (const node of [...names, "d"]) {
        await stage.send("DELETE", `/api/v1/nodes/${nodeName(stage, node)}`).catch(() => undefined);
      }
    }
  };
  return situation(`daemon set: ${name}`, play, options);
}

function up(count: number): Until {
  return every(
    hasStatus("DaemonSet", "agent", {
      desiredNumberScheduled: count,
      currentNumberScheduled: count,
      numberAvailable: count,
      updatedNumberScheduled: count,
    }),
    (stage) => stage.list("Pod").length === count,
  );
}

const taint = (key: string, effect: string) => ({ key, effect });

export const daemonSets: readonly Situation[] = [
  situation("daemon set: on the one node of the cluster", async (stage) => {
    await stage.apply(workload("apps/v1", "DaemonSet")("agent"));
    await stage.settle("up", (now) => now.find("DaemonSet", "agent")?.status?.numberAvailable >= 1);
    await stage.delete("DaemonSet", "agent");
    await stage.settle("gone", (now) => now.list("Pod").length === 0);
  }),
  onNodes("a pod on every node", async (stage) => {
    await stage.apply(daemon(stage));
    await stage.settle("up", up(3));
  }),
  onNodes("a node comes", async (stage) => {
    await stage.apply(daemon(stage));
    await stage.settle("up", up(3));
    await addNode(stage, "d");
    await stage.settle("one more", up(4));
  }),
  onNodes("a node loses its label", async (stage) => {
    await stage.apply(daemon(stage));
    await stage.settle("up", up(3));
    await stage.patch("Node", nodeName(stage, "b"), { metadata: { labels: { situation: null } } });
    await stage.settle("one less", up(2));
  }),
  onNodes("a taint keeps new pods away, and lets others stay", async (stage) => {
    await stage.apply(daemon(stage));
    await stage.settle("up", up(3));
    const taints = [
      { key: "situation", value: stage.namespace, effect: "NoSchedule" },
      taint("dedicated", "NoSchedule"),
    ];
    await stage.patch("Node", nodeName(stage, "a"), { spec: { taints } });
    await stage.settle("tainted", () => true, { quiet: 1000 });
    const misscheduled = { desiredNumberScheduled: 2, numberMisscheduled: 1 };
    await stage.patch("DaemonSet", "agent", { metadata: { labels: { touched: "yes" } } });
    await stage.settle("misscheduled", hasStatus("DaemonSet", "agent", misscheduled));
  }),
  onNodes("a node that is cordoned", async (stage) => {
    const node = nodeName(stage, "c");
    await stage.patch("Node", node, { spec: { unschedulable: true } });
    await stage.apply(daemon(stage));
    await stage.settle("up", up(3));
  }),
  onNodes(
    "a rolling update, one at a time",
    async (stage) => {
      await stage.apply(daemon(stage));
      await stage.settle("up", up(3));
      await stage.apply(daemon(stage, { image: "web:2" }));
      await stage.settle("updated", up(3));
    },
    { sequence: false },
  ),
  onNodes(
    "a rolling update of all at once",
    async (stage) => {
      const spec = { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "100%" } } };
      await stage.apply(daemon(stage, { spec }));
      await stage.settle("up", up(3));
      await stage.apply(daemon(stage, { image: "web:2", spec }));
      await stage.settle("updated", up(3));
    },
    { sequence: false },
  ),
  onNodes(
    "a rolling update with a surge",
    async (stage) => {
      const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
      const spec = { updateStrategy: { type: "RollingUpdate", rollingUpdate } };
      await stage.apply(daemon(stage, { spec }));
      await stage.settle("up", up(3));
      await stage.apply(daemon(stage, { image: "web:2", spec }));
      await stage.settle("updated", up(3));
    },
    { sequence: false },
  ),
  onNodes(
    "an update that never gets ready",
    async (stage) => {
      await stage.apply(daemon(stage));
      await stage.settle("up", up(3));
      await stage.apply(daemon(stage, { image: "web:2", annotations: { "pods.binnacle.dev/ready-after": "never" } }));
      await stage.settle("stuck", hasStatus("DaemonSet", "agent", { numberAvailable: 2, updatedNumberScheduled: 1 }));
    },
    { nodesAlike: true },
  ),
  onNodes("updated by deleting", async (stage) => {
    const spec = { updateStrategy: { type: "OnDelete" } };
    await stage.apply(daemon(stage, { spec }));
    await stage.settle("up", up(3));
    await stage.apply(daemon(stage, { image: "web:2", spec }));
    await stage.settle(
      "nothing happens",
      hasStatus("DaemonSet", "agent", { updatedNumberScheduled: 0, numberAvailable: 3 }),
    );
    await stage.delete("Pod", podOn(stage, "b").metadata.name);
    await stage.settle(
      "one is new",
      hasStatus("DaemonSet", "agent", { updatedNumberScheduled: 1, numberAvailable: 3 }),
    );
  }),
  onNodes(
    "rolled back",
    async (stage) => {
      await stage.apply(daemon(stage));
      await stage.settle("up", up(3));
      await stage.apply(daemon(stage, { image: "web:2" }));
      await stage.settle("updated", up(3));
      await stage.apply(daemon(stage));
      await stage.settle("rolled back", up(3));
    },
    { sequence: false },
  ),
  onNodes("a pod that is deleted comes back", async (stage) => {
    await stage.apply(daemon(stage));
    await stage.settle("up", up(3));
    const { name, uid } = podOn(stage, "b").metadata;
    await stage.delete("Pod", name);
    const isNew: Until = (now) => now.list("Pod").every(({ metadata }) => metadata.uid !== uid);
    await stage.settle("up again", every(up(3), isNew));
  }),
  onNodes("a pod that failed is replaced", async (stage) => {
    await stage.apply(daemon(stage));
    await stage.settle("up", up(3));
    const { name, uid } = podOn(stage, "b").metadata;
    await stage.patch("Pod", name, { status: { phase: "Failed", reason: "Evicted" } }, { subresource: "status" });
    const isNew: Until = (now) => now.list("Pod").every(({ metadata }) => metadata.uid !== uid);
    await stage.settle("replaced", every(up(3), isNew));
  }),
  onNodes("orphans are adopted", async (stage) => {
    await stage.apply(daemon(stage));
    await stage.settle("up", up(3));
    await stage.delete("DaemonSet", "agent", { propagation: "Orphan" });
    const isFree = ({ metadata }: Loose) => !metadata.ownerReferences;
    await stage.settle("orphans", (now) => now.list("DaemonSet").length === 0 && now.list("Pod").every(isFree));
    await stage.apply(daemon(stage));
    await stage.settle("adopted", up(3));
  }),
];
