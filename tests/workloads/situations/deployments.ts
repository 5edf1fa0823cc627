/** Rollouts of Deployments. */
import { type Situation, situation } from "../situation.ts";
import type { Stage } from "../stage.ts";
import { deployment, every, hasCondition, hasStatus, isComplete, replicaSet, template } from "../workloads.ts";

const never = { "pods.binnacle.dev/ready-after": "never" };

/** A rollout to its end. */
async function rollOut(stage: Stage, label: string, spec: object): Promise<void> {
  await stage.apply(deployment("web", spec));
  await stage.settle(label, isComplete("web"));
}

const version = (tag: number | string, annotations?: Record<string, string>): object =>
  template("web", { image: `web:${tag}`, ...(annotations === undefined ? {} : { annotations }) });

const rolling = (maxSurge: number | string, maxUnavailable: number | string): object => ({
  type: "RollingUpdate",
  rollingUpdate: { maxSurge, maxUnavailable },
});

/** The counts of a rollout that is stuck. */
const isStuckAt = (counts: Record<string, number>) => hasStatus("Deployment", "web", counts);

const isTimedOut = hasCondition("Deployment", "web", "Progressing", "ProgressDeadlineExceeded");

export const deployments: readonly Situation[] = [
  situation("deployment: comes up", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 3 });
  }),
  situation("deployment: a rolling update", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 3 });
    await rollOut(stage, "rolled out again", { replicas: 3, template: version(2) });
  }),
  situation("deployment: a rolling update of one pod at a time", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2, strategy: rolling(0, 1) });
    await rollOut(stage, "rolled out again", { replicas: 2, strategy: rolling(0, 1), template: version(2) });
  }),
  situation(
    "deployment: a rolling update by percentages",
    async (stage) => {
      await rollOut(stage, "rolled out", { replicas: 7, strategy: rolling("50%", "30%") });
      await rollOut(stage, "rolled out again", { replicas: 7, strategy: rolling("50%", "30%"), template: version(2) });
    },
    { events: "reasons" },
  ),
  situation(
    "deployment: recreate",
    async (stage) => {
      const strategy = { type: "Recreate" };
      await rollOut(stage, "rolled out", { replicas: 3, strategy });
      await rollOut(stage, "rolled out again", { replicas: 3, strategy, template: version(2) });
    },
    { order: true },
  ),
  situation(
    "deployment: recreate waits for pods that stop slowly",
    async (stage) => {
      const strategy = { type: "Recreate" };
      const slow = { "pods.binnacle.dev/stops-after": "30s" };
      await rollOut(stage, "rolled out", { replicas: 2, strategy, template: version(1, slow) });
      await stage.apply(deployment("web", { replicas: 2, strategy, template: version(2, slow) }));
      await stage.settle("the old pods stop", isStuckAt({ replicas: 0, terminatingReplicas: 2 }));
      const annotations = { "pods.binnacle.dev/stops-after": "0s" };
      for (const { metadata } of stage.list("Pod"))
        await stage.patch("Pod", metadata.name, { metadata: { annotations } });
      await stage.settle("rolled out again", isComplete("web"));
    },
    { order: true },
  ),
  situation("deployment: scaled up and down", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    await stage.patch("Deployment", "web", { spec: { replicas: 5 } }, { subresource: "scale" });
    await stage.settle("scaled up", isComplete("web"));
    await stage.patch("Deployment", "web", { spec: { replicas: 1 } }, { subresource: "scale" });
    await stage.settle("scaled down", isComplete("web"));
    await stage.patch("Deployment", "web", { spec: { replicas: 0 } }, { subresource: "scale" });
    await stage.settle("scaled to nothing", isComplete("web"));
  }),
  situation(
    "deployment: scaled in proportion while a rollout is stuck",
    async (stage) => {
      const spec = { replicas: 10, strategy: rolling(3, 2) };
      await rollOut(stage, "rolled out", spec);
      await stage.apply(deployment("web", { ...spec, template: version(2, never) }));
      await stage.settle("stuck", isStuckAt({ replicas: 13, updatedReplicas: 5, availableReplicas: 8 }));
      await stage.patch("Deployment", "web", { spec: { replicas: 20 } }, { subresource: "scale" });
      await stage.settle("scaled up", isStuckAt({ replicas: 23 }));
      await stage.patch("Deployment", "web", { spec: { replicas: 5 } }, { subresource: "scale" });
      await stage.settle("scaled down", isStuckAt({ replicas: 8 }));
    },
    { events: "reasons" },
  ),
  situation("deployment: paused, changed and resumed", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    await stage.patch("Deployment", "web", { spec: { paused: true } });
    await stage.settle("paused", hasCondition("Deployment", "web", "Progressing", "DeploymentPaused"));
    await stage.apply(deployment("web", { replicas: 2, template: version(2) }));
    await stage.settle("changed", hasStatus("Deployment", "web", {}));
    await stage.patch("Deployment", "web", { spec: { paused: false } });
    await stage.settle("resumed", every(isComplete("web"), hasStatus("Deployment", "web", { updatedReplicas: 2 })));
  }),
  situation("deployment: scaled while it is paused", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    await stage.patch("Deployment", "web", { spec: { paused: true } });
    await stage.patch("Deployment", "web", { spec: { replicas: 4 } }, { subresource: "scale" });
    await stage.settle("scaled", hasStatus("Deployment", "web", { availableReplicas: 4 }));
  }),
  situation("deployment: made while it is paused", async (stage) => {
    await stage.apply(deployment("web", { replicas: 2, paused: true }));
    await stage.settle("paused", hasCondition("Deployment", "web", "Progressing", "DeploymentPaused"));
    await stage.patch("Deployment", "web", { spec: { paused: false } });
    await stage.settle("resumed", isComplete("web"));
  }),
  situation("deployment: rolled back", async (stage) => {
    await rollOut(stage, "first", { replicas: 2 });
    await rollOut(stage, "second", { replicas: 2, template: version(2) });
    await rollOut(stage, "back", { replicas: 2, template: version(1) });
    await rollOut(stage, "forth", { replicas: 2, template: version(2) });
    await rollOut(stage, "back again", { replicas: 2, template: version(1) });
  }),
  situation("deployment: stuck until its deadline, then rolled back", async (stage) => {
    const spec = { replicas: 3, progressDeadlineSeconds: 10 }; // a busy machine rolls out within that
    await rollOut(stage, "rolled out", spec);
    await stage.apply(deployment("web", { ...spec, template: version(2, never) }));
    await stage.settle("stuck", every(isStuckAt({ replicas: 4, updatedReplicas: 1 }), isTimedOut));
    await rollOut(stage, "rolled back", spec);
  }),
  situation("deployment: a new version while the last one is stuck", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    await stage.apply(deployment("web", { replicas: 2, template: version(2, never) }));
    await stage.settle("stuck", isStuckAt({ replicas: 3, updatedReplicas: 1 }));
    await rollOut(stage, "rolled out again", { replicas: 2, template: version(3) });
  }),
  situation("deployment: pods that crash again and again", async (stage) => {
    const crashing = {
      "pods.binnacle.dev/exits-after": "0s",
      "pods.binnacle.dev/exit-code": "1",
      "pods.binnacle.dev/ready-after": "never",
      "pods.binnacle.dev/restarts-after": "1h",
    };
    const spec = { replicas: 2, progressDeadlineSeconds: 4, template: version(1, crashing) };
    await stage.apply(deployment("web", spec));
    const isBackingOff = (now: Stage): boolean =>
      now.pods().every(({ status }) => status.containerStatuses?.[0].state.waiting?.reason === "CrashLoopBackOff");
    await stage.settle("failed", every(isTimedOut, isStuckAt({ replicas: 2 }), isBackingOff));
  }),
  situation("deployment: an image that cannot be pulled", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    const failing = version("none", { "pods.binnacle.dev/fails": "ImagePullBackOff" });
    await stage.apply(deployment("web", { replicas: 2, template: failing }));
    await stage.settle("stuck", isStuckAt({ replicas: 3, updatedReplicas: 1, availableReplicas: 2 }));
  }),
  situation("deployment: no node fits", async (stage) => {
    const placed = template("web", { spec: { nodeSelector: { disk: "none" } } });
    await stage.apply(deployment("web", { replicas: 1, template: placed }));
    await stage.settle("pending", every(isStuckAt({ replicas: 1, unavailableReplicas: 1 })));
  }),
  situation("deployment: available only after a while", async (stage) => {
    const spec = { replicas: 2, minReadySeconds: 5 };
    await stage.apply(deployment("web", spec));
    await stage.settle("ready", hasStatus("Deployment", "web", { readyReplicas: 2, availableReplicas: 0 }));
    await stage.settle("available", isComplete("web"));
  }),
  situation("deployment: keeps only so many old versions", async (stage) => {
    const spec = { replicas: 1, revisionHistoryLimit: 1 };
    for (const tag of [1, 2, 3, 4]) {
      await stage.apply(deployment("web", { ...spec, template: version(tag) }));
      const most = Math.min(tag, 2);
      await stage.settle(
        `version ${tag}`,
        every(isComplete("web"), (now) => now.list("ReplicaSet").length === most),
      );
    }
  }),
  situation("deployment: adopts a ReplicaSet of its template", async (stage) => {
    await stage.apply(
      replicaSet("lone", { replicas: 2, selector: { matchLabels: { app: "web" } }, template: version(1) }),
    );
    await stage.settle("alone", hasStatus("ReplicaSet", "lone", { availableReplicas: 2 }));
    await rollOut(stage, "adopted", { replicas: 3 });
  }),
  situation("deployment: adopts a ReplicaSet of another template", async (stage) => {
    const lone = { replicas: 2, selector: { matchLabels: { app: "web" } }, template: version("old") };
    const object = replicaSet("lone", lone);
    await stage.apply({ ...object, metadata: { ...object.metadata, labels: { app: "web" } } });
    await stage.settle("alone", hasStatus("ReplicaSet", "lone", { availableReplicas: 2 }));
    await rollOut(stage, "adopted and replaced", { replicas: 2 });
  }),
  situation("deployment: releases a ReplicaSet that loses its labels", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 1 });
    const [set] = stage.list("ReplicaSet");
    await stage.patch("ReplicaSet", set.metadata.name, { metadata: { labels: { app: "other" } } });
    await stage.until("released", (now) => now.list("ReplicaSet")[0].metadata.ownerReferences === undefined);
    await Bun.sleep(500);
  }),
  situation("deployment: its ReplicaSet is deleted", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    const [set] = stage.list("ReplicaSet");
    await stage.delete("ReplicaSet", set.metadata.name);
    const isNew = (now: Stage): boolean => now.list("ReplicaSet")[0]?.metadata.uid !== set.metadata.uid;
    await stage.settle(
      "replaced",
      every(isComplete("web"), isNew, (now) => now.list("Pod").length === 2),
    );
  }),
  situation("deployment: a pod is deleted by hand", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 3 });
    const [pod] = stage.pods();
    await stage.delete("Pod", pod.metadata.name);
    const isGone = (now: Stage): boolean => now.find("Pod", pod.metadata.name) === undefined;
    await stage.settle("replaced", every(isGone, isComplete("web")));
  }),
  situation("deployment: deleted in the background", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    await stage.delete("Deployment", "web", { propagation: "Background" });
    await stage.settle("gone", (now) => now.list("Pod").length + now.list("ReplicaSet").length === 0);
  }),
  situation("deployment: deleted in the foreground", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    await stage.delete("Deployment", "web", { propagation: "Foreground" });
    await stage.settle("gone", (now) => now.list("Deployment").length === 0);
  }),
  situation("deployment: deleted without its pods, and made again", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    await stage.delete("Deployment", "web", { propagation: "Orphan" });
    await stage.settle("orphaned", (now) => now.list("Deployment").length === 0);
    await rollOut(stage, "adopted", { replicas: 3 });
  }),
  situation("deployment: changed in annotations alone", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 1 });
    await stage.patch("Deployment", "web", {
      metadata: { annotations: { note: "one", "kubernetes.io/change-cause": "x" } },
    });
    await stage.settle("noted", (now) => now.list("ReplicaSet")[0]?.metadata.annotations?.note === "one");
  }),
  situation("deployment: without a deadline", async (stage) => {
    const spec = { replicas: 2, progressDeadlineSeconds: 2147483647 };
    await rollOut(stage, "rolled out", spec);
    await rollOut(stage, "rolled out again", { ...spec, template: version(2) });
  }),
  situation("deployment: pods that nobody may make", async (stage) => {
    const refused = template("web", { spec: { priorityClassName: "none" } });
    await stage.apply(deployment("web", { replicas: 2, template: refused }));
    await stage.settle("failed", hasCondition("Deployment", "web", "ReplicaFailure"));
    await rollOut(stage, "mended", { replicas: 2 });
  }),
  situation("deployment: changed to Recreate in the middle", async (stage) => {
    await rollOut(stage, "rolled out", { replicas: 2 });
    await stage.apply(deployment("web", { replicas: 2, template: version(2, never) }));
    await stage.settle("stuck", isStuckAt({ replicas: 3, updatedReplicas: 1 }));
    await stage.patch("Deployment", "web", {
      spec: { strategy: { type: "Recreate", rollingUpdate: null } },
    });
    await stage.settle("only the new pods", isStuckAt({ replicas: 2, updatedReplicas: 2, terminatingReplicas: 0 }));
  }),
];
