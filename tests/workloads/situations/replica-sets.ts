/** ReplicaSets and ReplicationControllers by themselves. */
import { type Situation, situation } from "../situation.ts";
import type { Stage } from "../stage.ts";
import { every, hasCondition, hasStatus, pod, replicaSet, template } from "../workloads.ts";

const isUp = (count: number) =>
  hasStatus("ReplicaSet", "web", { replicas: count, availableReplicas: count, terminatingReplicas: 0 });

const counts =
  (count: number) =>
  (now: Stage): boolean =>
    now.list("Pod").length === count;

export const replicaSets: readonly Situation[] = [
  situation("replica set: comes up, scales and goes", async (stage) => {
    await stage.apply(replicaSet("web", { replicas: 3 }));
    await stage.settle("up", isUp(3));
    await stage.patch("ReplicaSet", "web", { spec: { replicas: 1 } }, { subresource: "scale" });
    await stage.settle("scaled down", every(isUp(1), counts(1)));
    await stage.delete("ReplicaSet", "web");
    await stage.settle("gone", counts(0));
  }),
  situation("replica set: adopts pods", async (stage) => {
    await stage.apply(pod("one", "web"), pod("two", "web"), pod("other", "other"));
    await stage.settle("pods alone", (now) => now.pods().length === 3);
    await stage.apply(replicaSet("web", { replicas: 3 }));
    await stage.settle("adopted", isUp(3));
  }),
  situation("replica set: adopts too many pods", async (stage) => {
    await stage.apply(
      pod("one", "web"),
      pod("two", "web", { annotations: { "pods.binnacle.dev/ready-after": "never" } }),
    );
    await stage.settle("pods alone", (now) => now.pods().length === 2);
    await stage.apply(replicaSet("web", { replicas: 1 }));
    await stage.settle("adopted", every(isUp(1), counts(1)));
  }),
  situation("replica set: a pod is relabelled, and comes back", async (stage) => {
    await stage.apply(replicaSet("web", { replicas: 2 }));
    await stage.settle("up", isUp(2));
    const [{ metadata }] = stage.pods() as [{ metadata: { name: string } }];
    await stage.patch("Pod", metadata.name, { metadata: { labels: { app: "other" } } });
    await stage.settle("released and replaced", every(isUp(2), counts(3)));
    await stage.patch("Pod", metadata.name, { metadata: { labels: { app: "web" } } });
    await stage.settle("adopted, one too many", every(isUp(2), counts(2)));
  }),
  situation("replica set: the least missed pods go first", async (stage) => {
    await stage.apply(replicaSet("web", { replicas: 3 }));
    await stage.settle("up", isUp(3));
    const [first, second] = stage.pods();
    const cost = { "controller.kubernetes.io/pod-deletion-cost": "-5" };
    await stage.patch("Pod", second.metadata.name, { metadata: { annotations: cost } });
    const unready = { "pods.binnacle.dev/ready-after": "never" };
    await stage.patch("Pod", first.metadata.name, { metadata: { annotations: unready } });
    await stage.settle("one is not ready", hasStatus("ReplicaSet", "web", { readyReplicas: 2 }));
    await stage.patch("ReplicaSet", "web", { spec: { replicas: 2 } });
    await stage.settle("the one that is not ready goes", every(isUp(2), counts(2)));
    await stage.patch("ReplicaSet", "web", { spec: { replicas: 1 } });
    await stage.settle("the cheap one goes", every(isUp(1), counts(1)));
  }),
  situation("replica set: a failed pod is replaced", async (stage) => {
    await stage.apply(replicaSet("web", { replicas: 1 }));
    await stage.settle("up", isUp(1));
    const [{ metadata }] = stage.pods() as [{ metadata: { name: string } }];
    const status = { phase: "Failed", reason: "Evicted" };
    await stage.patch("Pod", metadata.name, { status }, { subresource: "status" });
    await stage.settle("replaced", every(isUp(1), counts(2)));
  }),
  situation("replica set: a readiness gate", async (stage) => {
    const gated = template("web", { spec: { readinessGates: [{ conditionType: "example.com/gate" }] } });
    await stage.apply(replicaSet("web", { replicas: 1, template: gated }));
    await stage.settle("not ready", hasStatus("ReplicaSet", "web", { fullyLabeledReplicas: 1, readyReplicas: 0 }));
    const [{ metadata }] = stage.pods() as [{ metadata: { name: string } }];
    const status = { conditions: [{ type: "example.com/gate", status: "True" }] };
    await stage.patch("Pod", metadata.name, { status }, { type: "strategic", subresource: "status" });
    await stage.settle("ready", isUp(1));
  }),
  situation("replica set: pods that nobody may make", async (stage) => {
    const refused = template("web", { spec: { priorityClassName: "none" } });
    await stage.apply(replicaSet("web", { replicas: 2, template: refused }));
    await stage.settle("failed", hasCondition("ReplicaSet", "web", "ReplicaFailure"));
    await stage.patch("ReplicaSet", "web", { spec: { replicas: 0 } });
    await stage.settle("nothing more wanted", (now) => !hasCondition("ReplicaSet", "web", "ReplicaFailure")(now));
  }),
  situation("replica set: init containers and sidecars", async (stage) => {
    const initContainers = [
      { name: "first", image: "init:1" },
      { name: "sidecar", image: "side:1", restartPolicy: "Always" },
      { name: "last", image: "init:2" },
    ];
    await stage.apply(replicaSet("web", { replicas: 1, template: template("web", { spec: { initContainers } }) }));
    await stage.settle("up", isUp(1));
  }),
  situation("replica set: deleted without its pods, and made again", async (stage) => {
    await stage.apply(replicaSet("web", { replicas: 2 }));
    await stage.settle("up", isUp(2));
    await stage.delete("ReplicaSet", "web", { propagation: "Orphan" });
    await stage.settle("orphans", (now) => now.list("ReplicaSet").length === 0);
    await stage.apply(replicaSet("web", { replicas: 2 }));
    await stage.settle("adopted", isUp(2));
  }),
  situation("replication controller: comes up, scales and goes", async (stage) => {
    const controller = {
      apiVersion: "v1",
      kind: "ReplicationController",
      metadata: { name: "web" },
      spec: { replicas: 2, selector: { app: "web" }, template: template("web") },
    };
    await stage.apply(controller);
    await stage.settle("up", hasStatus("ReplicationController", "web", { availableReplicas: 2 }));
    await stage.patch("ReplicationController", "web", { spec: { replicas: 3 } });
    await stage.settle("scaled up", hasStatus("ReplicationController", "web", { availableReplicas: 3 }));
    await stage.delete("ReplicationController", "web", { propagation: "Foreground" });
    await stage.settle(
      "gone",
      every(counts(0), (now) => now.list("ReplicationController").length === 0),
    );
  }),
];
