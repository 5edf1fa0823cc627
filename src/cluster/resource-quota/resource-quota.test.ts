import { expect, test } from "bun:test";
import { ConfigMap, Namespace, Pod, ResourceQuota } from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
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
