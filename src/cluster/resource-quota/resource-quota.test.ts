import { expect, test } from "bun:test";
import {
  ConfigMap,
  type DeviceRequest,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ResourceClaim,
  ResourceQuota,
  Service,
} from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { startCluster } from "../../testing/start-cluster.ts";

test("resourceQuotaController counts what comes and goes, however fast", async () => {
  await using cluster = await startCluster({ server: "embedded", pods: false });
  const { client } = cluster;
  const namespace = "shop";
  const key = { namespace, name: "all" };
  await client.create(Namespace, { metadata: { name: namespace } });
  const hard = { pods: "40", "requests.cpu": "10", configmaps: "40", "count/deployments.apps": "1" };
  await client.create(ResourceQuota, { metadata: key, spec: { hard } });
  const used = async () => (await client.get(ResourceQuota, key)).status?.used;
  // The root certificate exists already or is about to.
  await eventually(async () => {
    expect(await used()).toEqual({ pods: "0", "requests.cpu": "0", configmaps: "1", "count/deployments.apps": "0" });
  });
  const names = Array.from({ length: 20 }, (_, index) => `object-${index}`);
  const containers = [{ name: "web", image: "web:1", resources: { requests: { cpu: "100m" } } }];
  await Promise.all(
    names.flatMap((name) => [
      client.create(Pod, { metadata: { name, namespace }, spec: { containers } }),
      client.create(ConfigMap, { metadata: { name, namespace } }),
    ]),
  );
  await eventually(async () =>
    expect(await used()).toMatchObject({ pods: "20", "requests.cpu": "2", configmaps: "21" }),
  );
  const some = names.slice(0, 5);
  await Promise.all(
    some.flatMap((name) => [
      client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 }),
      client.delete(ConfigMap, { namespace, name }),
    ]),
  );
  await eventually(async () =>
    expect(await used()).toMatchObject({ pods: "15", "requests.cpu": "1500m", configmaps: "16" }),
  );
});

const key = { namespace: "default", name: "all" };

test("resourceQuotaController puts a status right that somebody else has written", async () => {
  const clock = new FakeClock();
  await using cluster = await startCluster({ server: "embedded", pods: false, clock });
  const { client } = cluster;
  const status = async () => (await client.live.get(ResourceQuota, key)).status;
  const write = (changed: object) =>
    client.subresource("status").patch(ResourceQuota, key, { type: "merge", body: { status: changed } });
  await client.create(ResourceQuota, { metadata: key, spec: { hard: { pods: "3" } } });
  await eventually(async () => expect(await status()).toEqual({ hard: { pods: "3" }, used: { pods: "0" } }));
  // Limits count at once, since admission reads them from the status.
  await write({ hard: { pods: "9" } });
  await eventually(async () => expect((await status())?.hard).toEqual({ pods: "3" }));
  // What is used the API server writes as well, so that nobody can tell.
  await write({ used: { pods: "3" } });
  await clock.advanceInTurns(299_000);
  expect((await status())?.used).toEqual({ pods: "3" });
  await clock.advanceInTurns(2_000);
  await eventually(async () => expect((await status())?.used).toEqual({ pods: "0" }));
});

test("resourceQuotaController counts claims by their class of attributes, and devices by theirs", async () => {
  await using cluster = await startCluster({ server: "embedded", pods: false });
  const { client } = cluster;
  const [gold, all] = [{ ...key, name: "gold" }, key];
  const devices = "gpu.deviceclass.resource.k8s.io/devices";
  const hard = { persistentvolumeclaims: "1", "requests.storage": "2Gi" };
  const expression = { scopeName: "VolumeAttributesClass", operator: "In", values: ["gold"] } as const;
  await client.create(ResourceQuota, {
    metadata: gold,
    spec: { hard, scopeSelector: { matchExpressions: [expression] } },
  });
  const counted = "count/resourceclaims.resource.k8s.io";
  await client.create(ResourceQuota, { metadata: all, spec: { hard: { [devices]: "40", [counted]: "2" } } });
  const used = async (quota: typeof key) => (await client.live.get(ResourceQuota, quota)).status?.used;
  await eventually(async () =>
    expect(await used(gold)).toEqual({ persistentvolumeclaims: "0", "requests.storage": "0" }),
  );
  await eventually(async () => expect(await used(all)).toEqual({ [devices]: "0", [counted]: "0" }));

  const claim = (name: string, volumeAttributesClassName: string) =>
    client.create(PersistentVolumeClaim, {
      metadata: { name, namespace: "default" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        storageClassName: "",
        volumeAttributesClassName,
      },
    });
  await claim("one", "gold");
  await claim("two", "silver");
  expect(await used(gold)).toEqual({ persistentvolumeclaims: "1", "requests.storage": "1Gi" });
  expect(await claim("three", "gold").catch(String)).toContain("exceeded quota: gold");

  const deviceClaim = (name: string, requests: readonly DeviceRequest[]) =>
    client.create(ResourceClaim, {
      metadata: { name, namespace: "default" },
      spec: { devices: { requests } },
    });
  const exactly = { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 };
  const any = { deviceClassName: "gpu", allocationMode: "All" };
  await deviceClaim("one", [
    { name: "a", exactly },
    {
      name: "b",
      firstAvailable: [
        { name: "x", ...exactly },
        { name: "y", ...exactly, count: 3 },
      ],
    },
  ]);
  expect(await used(all)).toEqual({ [devices]: "5", [counted]: "1" });
  await deviceClaim("two", [{ name: "a", exactly: any }]);
  expect(await used(all)).toEqual({ [devices]: "37", [counted]: "2" });
  await client.delete(ResourceClaim, { namespace: "default", name: "two" });
  await eventually(async () => expect(await used(all)).toEqual({ [devices]: "5", [counted]: "1" }));
});

test("resourceQuotaController counts anew what an update takes out of a scope or makes of another type", async () => {
  await using cluster = await startCluster({ server: "embedded", pods: false });
  const { client } = cluster;
  const namespace = "scopes";
  await client.create(Namespace, { metadata: { name: namespace } });
  const scope = (name: string, hard: Record<string, string>, scopes?: string[]) =>
    client.create(ResourceQuota, { metadata: { name, namespace }, spec: { hard, ...(scopes && { scopes }) } });
  await scope("for-a-while", { pods: "5" }, ["Terminating"]);
  await scope("for-ever", { pods: "5" }, ["NotTerminating"]);
  await scope("ports", { "services.nodeports": "5" });
  const used = async (name: string) => (await client.get(ResourceQuota, { namespace, name })).status?.used;
  const counts = async (text: string) =>
    eventually(async () =>
      expect(JSON.stringify([await used("for-a-while"), await used("for-ever"), await used("ports")])).toBe(text),
    );
  await counts('[{"pods":"0"},{"pods":"0"},{"services.nodeports":"0"}]');
  const pod = { namespace, name: "web" };
  await client.create(Pod, { metadata: pod, spec: { containers: [{ name: "web", image: "web:1" }] } });
  await client.create(Service, { metadata: pod, spec: { type: "NodePort", ports: [{ port: 80 }] } });
  await counts('[{"pods":"0"},{"pods":"1"},{"services.nodeports":"1"}]');
  await client.patch(Pod, pod, { type: "merge", body: { spec: { activeDeadlineSeconds: 3600 } } });
  await client.patch(Service, pod, { type: "merge", body: { spec: { type: "ClusterIP" } } });
  await counts('[{"pods":"1"},{"pods":"0"},{"services.nodeports":"0"}]');
});
