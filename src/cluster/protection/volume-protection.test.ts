import { expect, test } from "bun:test";
import { PersistentVolume, PersistentVolumeClaim } from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
import { startCluster } from "../../testing/start-cluster.ts";

test("a volume goes at once when nobody has claimed it, and else with its claim", async () => {
  await using cluster = await startCluster({ server: "embedded" });
  const { client } = cluster;
  const volume = (name: string) =>
    client.create(PersistentVolume, {
      metadata: { name },
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } },
    });
  const { metadata } = await volume("free");
  expect(metadata.finalizers).toEqual(["kubernetes.io/pv-protection"]);
  await client.delete(PersistentVolume, { name: "free" });
  await eventually(async () => expect(await client.live.find(PersistentVolume, { name: "free" })).toBeUndefined());

  const place = { name: "data", namespace: "default" };
  const claim = await client.create(PersistentVolumeClaim, {
    metadata: place,
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeName: "bound" },
  });
  await volume("bound");
  const claimRef = { ...place, uid: claim.metadata.uid };
  await client.patch(PersistentVolume, { name: "bound" }, { type: "merge", body: { spec: { claimRef } } });
  const status = { status: { phase: "Bound" } };
  await client.subresource("status").patch(PersistentVolume, { name: "bound" }, { type: "merge", body: status });
  await client.delete(PersistentVolume, { name: "bound" });
  // Another volume that goes says that the controller has looked at this one.
  await volume("later");
  await client.delete(PersistentVolume, { name: "later" });
  await eventually(async () => expect(await client.live.find(PersistentVolume, { name: "later" })).toBeUndefined());
  expect(await client.live.find(PersistentVolume, { name: "bound" })).toBeDefined();
  await client.delete(PersistentVolumeClaim, place);
  await eventually(async () => expect(await client.live.find(PersistentVolume, { name: "bound" })).toBeUndefined());
});
