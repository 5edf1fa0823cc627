/** Rollouts of Deployments. */
import { type Situation, situation } from "../situation.ts";
import { deployment, hasStatus, isComplete, replicaSet, template } from "../workloads.ts";

export const deployments: readonly Situation[] = [
  situation("deployment: comes up", async (stage) => {
    await stage.apply(deployment("web", { replicas: 3 }));
    await stage.settle("rolled out", isComplete("web"));
  }),
  situation("deployment: a rolling update", async (stage) => {
    await stage.apply(deployment("web", { replicas: 3 }));
    await stage.settle("rolled out", isComplete("web"));
    await stage.apply(deployment("web", { replicas: 3, template: template("web", { image: "web:2" }) }));
    await stage.settle("rolled out again", isComplete("web"));
  }),
  situation("replica set: comes up, scales and goes", async (stage) => {
    await stage.apply(replicaSet("web", { replicas: 3 }));
    await stage.settle("up", hasStatus("ReplicaSet", "web", { availableReplicas: 3 }));
    await stage.patch("ReplicaSet", "web", { spec: { replicas: 1 } }, { subresource: "scale" });
    await stage.settle("scaled down", hasStatus("ReplicaSet", "web", { replicas: 1, terminatingReplicas: 0 }));
    await stage.delete("ReplicaSet", "web");
    await stage.settle("gone", (now) => now.list("Pod").length === 0);
  }),
];
