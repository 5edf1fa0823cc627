/** Volumes and claims: what is bound to what, and what becomes of it. Classes and volumes are named after the namespace. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Stage, Until } from "../stage.ts";

const claim = (name: string, stage: Stage, { storage = "1Gi", ...spec }: Loose = {}): Loose => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: stage.namespace,
    resources: { requests: { storage } },
    ...spec,
  },
});

const volume = (name: string, stage: Stage, { storage = "1Gi", metadata, ...spec }: Loose = {}): Loose => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: `${name}.${stage.namespace}`, ...metadata },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: stage.namespace,
    capacity: { storage },
    persistentVolumeReclaimPolicy: "Retain",
    hostPath: { path: "/data" },
    ...(spec.csi && { hostPath: undefined }),
    ...spec,
  },
});

const get = (stage: Stage, name: string): Promise<Loose> =>
  stage
    .send("GET", `/api/v1/persistentvolumes/${name}.${stage.namespace}`)
    .catch(() => ({ metadata: {}, spec: {}, status: { phase: "gone" } }));

/** Waits until the volumes are in these phases, and notes what they are bound to. */
async function phases(stage: Stage, wanted: Readonly<Record<string, string>>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const present = await Promise.all(Object.keys(wanted).map((name) => get(stage, name)));
    const entries = Object.keys(wanted).map((name, index) => {
      const { metadata, spec, status } = present[index]!;
      const by = Object.keys(metadata.annotations ?? {}).toSorted();
      return [name, [status.phase, spec.claimRef?.name, spec.claimRef?.uid !== undefined, by, status.message].join()];
    });
    const isThere = Object.entries(wanted).every(([, phase], index) => present[index]?.status.phase === phase);
    if (!isThere && tries < 200) {
      await Bun.sleep(100);
      continue;
    }
    const name = Object.entries(wanted).flat().join("-").toLowerCase();
    return stage.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: Object.fromEntries(entries) });
  }
}

const isPhase =
  (name: string, phase: string): Until =>
  (stage) =>
    stage.find("PersistentVolumeClaim", name)?.status?.phase === phase;

async function clear(stage: Stage, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = `/api/v1/persistentvolumes/${name}.${stage.namespace}`;
    await stage.send("DELETE", path).catch(() => {});
    const body = { metadata: { finalizers: null } };
    await stage.send("PATCH", path, body, "application/merge-patch+json").catch(() => {});
  }
}

export const volumes: readonly Situation[] = [
  situation("volume: a claim takes the smallest that is large enough, and releases it", async (stage) => {
    await stage.apply(
      volume("small", stage),
      volume("large", stage, { storage: "5Gi" }),
      volume("fitting", stage, { storage: "2Gi" }),
      volume("shared", stage, { storage: "1.5Gi", accessModes: ["ReadWriteOnce", "ReadWriteMany"] }),
    );
    await phases(stage, { small: "Available", large: "Available", fitting: "Available", shared: "Available" });
    await stage.apply(claim("data", stage, { storage: "1.5Gi" }));
    await stage.settle("bound", isPhase("data", "Bound"));
    await phases(stage, { small: "Available", large: "Available", fitting: "Bound" });
    await stage.apply(claim("many", stage, { accessModes: ["ReadWriteMany"] }));
    await stage.settle("bound, too", isPhase("many", "Bound"));
    await stage.delete("PersistentVolumeClaim", "data");
    await phases(stage, { fitting: "Released" });
    await stage.settle("released", (now) => now.list("PersistentVolumeClaim").length === 1);
    await clear(stage, "small", "large", "fitting", "shared");
  }),
  situation("volume: a claim waits for one, and loses it", async (stage) => {
    await stage.apply(claim("data", stage));
    await stage.settle("pending", isPhase("data", "Pending"));
    await stage.apply(volume("late", stage));
    // kube-controller-manager looks at such a claim every 15 s.
    await stage.settle("bound", isPhase("data", "Bound"));
    await clear(stage, "late");
    await stage.settle("lost", isPhase("data", "Lost"));
  }),
  situation(
    "volume: a claim names one that does not suit it",
    async (stage) => {
      await stage.apply(volume("small", stage), volume("taken", stage));
      await stage.apply(claim("first", stage, { volumeName: `taken.${stage.namespace}` }));
      await stage.settle("taken", isPhase("first", "Bound"));
      await stage.apply(claim("large", stage, { storage: "3Gi", volumeName: `small.${stage.namespace}` }));
      await stage.apply(claim("second", stage, { volumeName: `taken.${stage.namespace}` }));
      await stage.settle("not bound");
      await phases(stage, { small: "Available", taken: "Bound" });
      await clear(stage, "small", "taken");
    },
    // It looks every 15 s, and its first look may come before it knows the volume.
    { events: false },
  ),
  situation("volume: one is meant for a claim", async (stage) => {
    const { namespace } = stage;
    await stage.apply(
      volume("small", stage),
      volume("meant", stage, { storage: "9Gi", claimRef: { name: "data", namespace } }),
    );
    await phases(stage, { small: "Available", meant: "Available" });
    await stage.apply(claim("data", stage));
    await stage.settle("bound", isPhase("data", "Bound"));
    await phases(stage, { small: "Available", meant: "Bound" });
    await stage.delete("PersistentVolumeClaim", "data");
    await phases(stage, { small: "Available", meant: "Released" });
    await clear(stage, "small", "meant");
  }),
  situation("volume: those to be deleted", async (stage) => {
    const policy = { persistentVolumeReclaimPolicy: "Delete" };
    const provisioned = { annotations: { "pv.kubernetes.io/provisioned-by": "csi.example.com" } };
    const all: Readonly<Record<string, Loose>> = {
      temporary: { hostPath: { path: "/tmp/of-nobody/of-nobody" } },
      elsewhere: { hostPath: { path: "/srv/of-nobody" } },
      driven: { csi: { driver: "csi.example.com", volumeHandle: "one" } },
      provisioned: { metadata: provisioned, hostPath: { path: "/srv/of-nobody" } },
      remote: { hostPath: undefined, nfs: { server: "example.com", path: "/" } },
    };
    for (const [name, spec] of Object.entries(all)) {
      await stage.apply(volume(name, stage, { ...policy, ...spec }));
      await stage.apply(claim(name, stage, { volumeName: `${name}.${stage.namespace}` }));
    }
    await stage.settle("bound", (now) => Object.keys(all).every((name) => isPhase(name, "Bound")(now)));
    for (const name of Object.keys(all)) await stage.delete("PersistentVolumeClaim", name);
    await phases(stage, {
      temporary: "gone",
      elsewhere: "Failed",
      driven: "Released",
      provisioned: "Released",
      remote: "Failed",
    });
    await clear(stage, ...Object.keys(all));
  }),
  situation("volume: those that nobody recycles", async (stage) => {
    const csi = { driver: "csi.example.com", volumeHandle: "one" };
    await stage.apply(volume("driven", stage, { persistentVolumeReclaimPolicy: "Recycle", csi }));
    await stage.apply(claim("data", stage));
    await stage.settle("bound", isPhase("data", "Bound"));
    await stage.delete("PersistentVolumeClaim", "data");
    await phases(stage, { driven: "Failed" });
    await clear(stage, "driven");
  }),
  situation("volume: a class that nobody has made", async (stage) => {
    await stage.apply(claim("data", stage));
    await stage.settle("pending", isPhase("data", "Pending"));
  }),
  situation("volume: a claim without a class", async (stage) => {
    await stage.apply(claim("data", stage, { storageClassName: "" }));
    await stage.settle("pending", isPhase("data", "Pending"));
  }),
  situation("volume: a class whose provisioner is somebody else", async (stage) => {
    await stage.apply({
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: stage.namespace },
      provisioner: "csi.example.com",
    });
    await stage.apply(claim("data", stage));
    const asked: Until = (now) =>
      now.find("PersistentVolumeClaim", "data")?.metadata.annotations?.["volume.kubernetes.io/storage-provisioner"] !==
      undefined;
    await stage.settle("asked for", asked);
    await stage.apply(volume("made", stage, { claimRef: { name: "data", namespace: stage.namespace } }));
    await stage.settle("bound", isPhase("data", "Bound"));
    await clear(stage, "made");
    await stage.delete("StorageClass", stage.namespace);
  }),
];
