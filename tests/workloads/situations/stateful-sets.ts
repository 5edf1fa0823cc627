/** StatefulSets: order, storage, updates. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Until } from "../stage.ts";
import { every, hasStatus, template, workload } from "../workloads.ts";

const set = (name: string, spec: Loose = {}): Loose =>
  workload("apps/v1", "StatefulSet")(name, { serviceName: name, replicas: 3, ...spec });

const resources = { requests: { storage: "1Gi" } };
const volumeClaimTemplates = [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources } }];

/** So many pods, all available. */
function up(name: string, count: number): Until {
  return every(
    hasStatus("StatefulSet", name, { replicas: count, availableReplicas: count }),
    (stage) => stage.list("Pod").length === count,
  );
}

/** All pods of the set's own template. */
function updated(name: string, count: number): Until {
  const isCurrent: Until = (stage) => {
    const { currentRevision, updateRevision } = stage.find("StatefulSet", name)?.status ?? {};
    return currentRevision === updateRevision;
  };
  return every(up(name, count), hasStatus("StatefulSet", name, { updatedReplicas: count }), isCurrent);
}

function podsGone(count: number): Until {
  return (stage) => stage.list("StatefulSet").length === 0 && stage.list("Pod").length === count;
}

const second = { template: template("web", { image: "web:2" }) };

export const statefulSets: readonly Situation[] = [
  situation(
    "stateful set: comes up in order",
    async (stage) => {
      await stage.apply(set("web", { volumeClaimTemplates }));
      await stage.settle("up", up("web", 3));
    },
    { order: true },
  ),
  situation("stateful set: comes up in parallel", async (stage) => {
    await stage.apply(set("web", { podManagementPolicy: "Parallel", volumeClaimTemplates }));
    await stage.settle("up", up("web", 3));
    await stage.patch("StatefulSet", "web", { spec: { replicas: 1 } });
    await stage.settle("down", up("web", 1));
  }),
  situation(
    "stateful set: scales down and up in order, and keeps its claims",
    async (stage) => {
      await stage.apply(set("web", { volumeClaimTemplates }));
      await stage.settle("up", up("web", 3));
      await stage.patch("StatefulSet", "web", { spec: { replicas: 1 } }, { subresource: "scale" });
      await stage.settle("down", up("web", 1));
      await stage.patch("StatefulSet", "web", { spec: { replicas: 2 } });
      await stage.settle("up again", up("web", 2));
    },
    { order: true },
  ),
  situation("stateful set: claims go when it is scaled down", async (stage) => {
    const persistentVolumeClaimRetentionPolicy = { whenScaled: "Delete", whenDeleted: "Retain" };
    await stage.apply(set("web", { volumeClaimTemplates, persistentVolumeClaimRetentionPolicy }));
    await stage.settle("up", up("web", 3));
    await stage.patch("StatefulSet", "web", { spec: { replicas: 1 } });
    const oneClaim: Until = (now) => now.list("PersistentVolumeClaim").length === 1;
    await stage.settle("down", every(up("web", 1), oneClaim));
  }),
  situation("stateful set: claims go with it", async (stage) => {
    const persistentVolumeClaimRetentionPolicy = { whenScaled: "Retain", whenDeleted: "Delete" };
    await stage.apply(set("web", { volumeClaimTemplates, persistentVolumeClaimRetentionPolicy }));
    await stage.settle("up", up("web", 3));
    await stage.delete("StatefulSet", "web");
    await stage.settle(
      "gone",
      every(podsGone(0), (now) => now.list("PersistentVolumeClaim").length === 0),
    );
  }),
  situation("stateful set: the policy of its claims changes", async (stage) => {
    await stage.apply(set("web", { replicas: 2, volumeClaimTemplates }));
    await stage.settle("retained", up("web", 2));
    const policy = { whenScaled: "Delete", whenDeleted: "Delete" };
    await stage.patch("StatefulSet", "web", { spec: { persistentVolumeClaimRetentionPolicy: policy } });
    const isOwned = ({ metadata }: Loose) => metadata.ownerReferences?.length === 1;
    await stage.settle("owned", (now) => now.list("PersistentVolumeClaim").every(isOwned));
  }),
  situation("stateful set: claims stay when it is deleted", async (stage) => {
    await stage.apply(set("web", { volumeClaimTemplates }));
    await stage.settle("up", up("web", 3));
    await stage.delete("StatefulSet", "web");
    await stage.settle("gone", podsGone(0));
  }),
  situation(
    "stateful set: a rolling update goes from the last pod to the first",
    async (stage) => {
      await stage.apply(set("web"));
      await stage.settle("up", up("web", 3));
      await stage.apply(set("web", second));
      await stage.settle("updated", updated("web", 3));
    },
    { order: true },
  ),
  situation("stateful set: an update of a part, then of the rest", async (stage) => {
    const partition = (number: number) => ({
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: number } },
    });
    await stage.apply(set("web", partition(2)));
    await stage.settle("up", up("web", 3));
    await stage.apply(set("web", { ...second, ...partition(2) }));
    const partly = hasStatus("StatefulSet", "web", { updatedReplicas: 1, currentReplicas: 2 });
    await stage.settle("a part", every(up("web", 3), partly));
    await stage.delete("Pod", "web-0");
    await stage.until("gone", (now) => now.pods().length === 2);
    await stage.settle("below the partition a pod comes back as it was", every(up("web", 3), partly));
    await stage.apply(set("web", { ...second, ...partition(0) }));
    await stage.settle("the rest", updated("web", 3));
  }),
  situation("stateful set: updated by deleting", async (stage) => {
    const updateStrategy = { type: "OnDelete" };
    await stage.apply(set("web", { updateStrategy }));
    await stage.settle("up", up("web", 3));
    await stage.apply(set("web", { ...second, updateStrategy }));
    const seen: Until = (now) => {
      const { currentRevision, updateRevision } = now.find("StatefulSet", "web")?.status ?? {};
      return currentRevision !== updateRevision;
    };
    await stage.settle("nothing happens", every(up("web", 3), seen));
    await stage.delete("Pod", "web-1");
    await stage.until("gone", (now) => now.pods().length === 2);
    const one = hasStatus("StatefulSet", "web", { updatedReplicas: 1 });
    await stage.settle("one is new", every(up("web", 3), one));
  }),
  situation("stateful set: rolled back", async (stage) => {
    await stage.apply(set("web", { replicas: 2 }));
    await stage.settle("up", up("web", 2));
    await stage.apply(set("web", { replicas: 2, ...second }));
    await stage.settle("updated", updated("web", 2));
    await stage.apply(set("web", { replicas: 2 }));
    const isThird = ({ revision }: Loose) => revision === 3;
    await stage.until("renumbered", (now) => now.list("ControllerRevision").some(isThird));
    await stage.settle("rolled back", updated("web", 2));
  }),
  situation("stateful set: a history with a limit", async (stage) => {
    const version = (number: number) => ({ template: template("web", { image: `web:${number}` }) });
    for (const number of [1, 2, 3, 4]) {
      await stage.apply(set("web", { replicas: 1, revisionHistoryLimit: 1, ...version(number) }));
      const isNew: Until = (now) => now.pods()[0]?.spec.containers[0].image === `web:${number}`;
      await stage.settle(`version ${number}`, every(isNew, updated("web", 1)));
    }
  }),
  situation("stateful set: a pod that is deleted comes back", async (stage) => {
    await stage.apply(set("web", { volumeClaimTemplates }));
    await stage.settle("up", up("web", 3));
    const { uid } = stage.find("Pod", "web-1").metadata;
    await stage.delete("Pod", "web-1");
    await stage.settle(
      "up again",
      every(up("web", 3), (now) => now.find("Pod", "web-1")?.metadata.uid !== uid),
    );
  }),
  situation("stateful set: a pod that failed is replaced", async (stage) => {
    await stage.apply(set("web", { replicas: 2 }));
    await stage.settle("up", up("web", 2));
    const { uid } = stage.find("Pod", "web-0").metadata;
    const status = { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." };
    await stage.patch("Pod", "web-0", { status }, { subresource: "status" });
    await stage.settle(
      "replaced",
      every(up("web", 2), (now) => now.find("Pod", "web-0")?.metadata.uid !== uid),
    );
  }),
  situation("stateful set: a pod that never gets ready stops the rest", async (stage) => {
    const annotations = { "index-1.pods.binnacle.dev/ready-after": "never" };
    await stage.apply(set("web", { template: template("web", { annotations }) }));
    await stage.settle("stuck", hasStatus("StatefulSet", "web", { replicas: 2, readyReplicas: 1 }));
    await stage.patch("StatefulSet", "web", { spec: { replicas: 1 } });
    await stage.settle("down", up("web", 1));
  }),
  situation("stateful set: an update that never gets ready", async (stage) => {
    await stage.apply(set("web"));
    await stage.settle("up", up("web", 3));
    const annotations = { "pods.binnacle.dev/ready-after": "never" };
    await stage.apply(set("web", { template: template("web", { image: "web:2", annotations }) }));
    const stuck = hasStatus("StatefulSet", "web", { replicas: 3, readyReplicas: 2, updatedReplicas: 1 });
    await stage.settle("stuck", stuck);
    await stage.apply(set("web", { template: template("web", { image: "web:3" }) }));
    await stage.settle("still stuck, as documented", hasStatus("StatefulSet", "web", { updatedReplicas: 0 }));
    await stage.delete("Pod", "web-2");
    await stage.settle("updated", updated("web", 3));
  }),
  situation("stateful set: ordinals begin at five", async (stage) => {
    await stage.apply(set("web", { replicas: 2, ordinals: { start: 5 } }));
    await stage.settle("up", up("web", 2));
    await stage.patch("StatefulSet", "web", { spec: { ordinals: { start: 6 } } });
    await stage.settle(
      "moved",
      every(up("web", 2), (now) => now.find("Pod", "web-5") === undefined),
    );
  }),
  situation("stateful set: pods have to be ready for some time", async (stage) => {
    await stage.apply(set("web", { replicas: 2, minReadySeconds: 1 }));
    await stage.settle("up", up("web", 2));
  }),
  situation("stateful set: orphans are adopted", async (stage) => {
    await stage.apply(set("web", { replicas: 2 }));
    await stage.settle("up", up("web", 2));
    await stage.delete("StatefulSet", "web", { propagation: "Orphan" });
    const isFree = ({ metadata }: Loose) => !metadata.ownerReferences;
    await stage.settle(
      "orphans",
      every(podsGone(2), (now) => now.list("Pod").every(isFree)),
    );
    await stage.apply(set("web", { replicas: 2 }));
    const isOwned = ({ metadata }: Loose) => metadata.ownerReferences?.length === 1;
    await stage.settle(
      "adopted",
      every(up("web", 2), (now) => now.list("Pod").every(isOwned)),
    );
  }),
];
