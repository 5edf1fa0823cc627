import { expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  CoreEvent,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  VolumeAttributesClass,
} from "../../resource/builtin/index.ts";
import { eventually, startCluster, type TestCluster } from "../../testing/index.ts";

const namespace = "default";

const phaseOf = async ({ client }: TestCluster, name: string): Promise<string | undefined> =>
  (await client.live.find(PersistentVolume, { name }))?.status?.phase;

const claimPhase = async ({ client }: TestCluster, name: string): Promise<string | undefined> =>
  (await client.live.find(PersistentVolumeClaim, { name, namespace }))?.status?.phase;

const createVolume = ({ client }: TestCluster, name: string, spec: object = {}) =>
  client.create(PersistentVolume, {
    metadata: { name },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" }, ...spec },
  });

const createClaim = ({ client }: TestCluster, name: string, spec: object = {}) =>
  client.create(PersistentVolumeClaim, {
    metadata: { name, namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  });

test("a volume is available, bound, and after its claim again available where it can be recycled", async () => {
  await using cluster = await startCluster({ server: "embedded" });
  await createVolume(cluster, "one", { persistentVolumeReclaimPolicy: "Recycle" });
  await eventually(async () => expect(await phaseOf(cluster, "one")).toBe("Available"));
  await createClaim(cluster, "data");
  await eventually(async () => expect(await claimPhase(cluster, "data")).toBe("Bound"));
  const { spec, status } = await cluster.client.live.get(PersistentVolumeClaim, { name: "data", namespace });
  expect([spec?.volumeName, status?.capacity, status?.accessModes]).toEqual([
    "one",
    { storage: "1Gi" },
    ["ReadWriteOnce"],
  ]);
  expect(await phaseOf(cluster, "one")).toBe("Bound");
  await cluster.client.delete(PersistentVolumeClaim, { name: "data", namespace });
  await eventually(async () => expect(await phaseOf(cluster, "one")).toBe("Available"));
  const free = await cluster.client.live.get(PersistentVolume, { name: "one" });
  expect([free.spec?.claimRef, free.metadata.annotations]).toEqual([undefined, undefined]);
});

test("a claim whose class waits for a pod is bound for the first one, or asks the provisioner with its node", async () => {
  await using cluster = await startCluster({ server: "embedded" });
  const { client } = cluster;
  const volumeBindingMode = "WaitForFirstConsumer";
  const provisioner = "csi.example.com";
  await client.create(StorageClass, { metadata: { name: "slow" }, provisioner, volumeBindingMode });
  await createVolume(cluster, "one", { storageClassName: "slow" });
  for (const name of ["first", "second"]) await createClaim(cluster, name, { storageClassName: "slow" });
  await eventually(async () => {
    const events = await client.live.list(CoreEvent, { namespace });
    expect(events.filter(({ reason }) => reason === "WaitForFirstConsumer").length).toBeGreaterThanOrEqual(2);
  });
  expect([await phaseOf(cluster, "one"), await claimPhase(cluster, "first")]).toEqual(["Available", "Pending"]);
  const mount = (claimName: string) =>
    client.create(Pod, {
      metadata: { name: claimName, namespace },
      spec: {
        containers: [{ name: "main", image: "main" }],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
      },
    });
  await mount("first");
  await eventually(async () => expect(await claimPhase(cluster, "first")).toBe("Bound"));
  await mount("second");
  await eventually(async () => {
    const { metadata } = await client.live.get(PersistentVolumeClaim, { name: "second", namespace });
    expect(metadata.annotations).toMatchObject({
      "volume.kubernetes.io/selected-node": "binnacle-node",
      "volume.kubernetes.io/storage-provisioner": provisioner,
    });
  });
  expect(await claimPhase(cluster, "second")).toBe("Pending");
});

test("a claim without a class gets the default one that comes later", async () => {
  await using cluster = await startCluster({ server: "embedded" });
  await createClaim(cluster, "data");
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  await cluster.client.create(StorageClass, {
    metadata: { name: "standard", annotations },
    provisioner: "csi.example.com",
  });
  await eventually(async () => {
    const { spec } = await cluster.client.live.get(PersistentVolumeClaim, { name: "data", namespace });
    expect(spec?.storageClassName).toBe("standard");
  });
});

test("a class of attributes goes when no claim and no volume names it", async () => {
  await using cluster = await startCluster({ server: "embedded" });
  const { client } = cluster;
  const create = (name: string) =>
    client.create(VolumeAttributesClass, {
      metadata: { name },
      driverName: "csi.example.com",
      parameters: { iops: "1" },
    });
  const find = (name: string) => client.live.find(VolumeAttributesClass, { name });
  expect((await create("free")).metadata.finalizers).toEqual(["kubernetes.io/vac-protection"]);
  await create("used");
  await createClaim(cluster, "data", { volumeAttributesClassName: "used" });
  await client.delete(VolumeAttributesClass, { name: "used" });
  await client.delete(VolumeAttributesClass, { name: "free" });
  await eventually(async () => expect(await find("free")).toBeUndefined());
  expect(await find("used")).toBeDefined();
  await client.delete(PersistentVolumeClaim, { name: "data", namespace });
  await eventually(async () => expect(await find("used")).toBeUndefined());
});

/** What a user may do: make a volume or a claim of a size, or delete one. */
const step = fc.record({
  does: fc.constantFrom("volume", "volume", "claim", "claim", "delete volume", "delete claim"),
  which: fc.integer({ min: 0, max: 5 }),
  size: fc.integer({ min: 1, max: 3 }),
});

test("however volumes and claims come and go, each side is bound to one of the other, which is bound to it", async () => {
  await using cluster = await startCluster({ server: "embedded", pods: false });
  const { client } = cluster;
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const storageClassName = `run-${(run += 1)}`;
      const nameOf = (which: number): string => `${storageClassName}-${which}`;
      for (const { does, which, size } of steps) {
        const name = nameOf(which);
        const storage = `${size}Gi`;
        const done =
          does === "volume"
            ? createVolume(cluster, name, { storageClassName, capacity: { storage } })
            : does === "claim"
              ? createClaim(cluster, name, { storageClassName, resources: { requests: { storage } } })
              : does === "delete claim"
                ? client.delete(PersistentVolumeClaim, { name, namespace })
                : client.delete(PersistentVolume, { name });
        await done.catch(() => {}); // it is there already, or is not there
      }
      await eventually(async () => {
        const isOfRun = ({ spec }: { spec?: { storageClassName?: string | undefined } | undefined }): boolean =>
          spec?.storageClassName === storageClassName;
        const volumes = (await client.live.list(PersistentVolume)).filter(isOfRun);
        const claims = (await client.live.list(PersistentVolumeClaim, { namespace })).filter(isOfRun);
        for (const { metadata, spec, status } of claims) {
          const volume = volumes.find((one) => one.spec?.claimRef?.uid === metadata.uid);
          expect([metadata.name, status?.phase, spec?.volumeName]).toEqual([
            metadata.name,
            volume === undefined ? "Pending" : "Bound",
            volume?.metadata.name,
          ]);
        }
        for (const { metadata, spec, status } of volumes) {
          const isClaimed = claims.some(({ metadata: { uid } }) => uid === spec?.claimRef?.uid);
          const phase = spec?.claimRef === undefined ? "Available" : isClaimed ? "Bound" : "Released";
          if (metadata.deletionTimestamp === undefined)
            expect([metadata.name, status?.phase]).toEqual([metadata.name, phase]);
        }
        // Nobody waits for a volume that would do.
        const free = volumes
          .filter(({ status }) => status?.phase === "Available")
          .map((one) => sizeOf(one.spec?.capacity));
        const waiting = claims.filter(({ status }) => status?.phase === "Pending");
        for (const { spec } of waiting)
          expect(Math.max(0, ...free)).toBeLessThan(sizeOf(spec?.resources?.requests ?? undefined));
      });
    }),
    { numRuns: 8, seed: 28, endOnFailure: true },
  );
}, 30_000);

function sizeOf(list: { readonly [name: string]: string | number } | undefined): number {
  return Number.parseInt(String(list?.["storage"] ?? 0), 10);
}
