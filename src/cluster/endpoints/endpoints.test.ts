import { afterAll, beforeAll, expect, test } from "bun:test";
import { Endpoints, EndpointSlice, Pod, Service } from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
import { startCluster, type TestCluster } from "../../testing/start-cluster.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster({ server: "embedded" });
});

afterAll(() => cluster?.stop());

const namespace = "default";

async function makePod(name: string, app: string, annotations?: Record<string, string>): Promise<void> {
  const containers = [{ name: "web", image: "web:1", ports: [{ name: "http", containerPort: 8080 }] }];
  await cluster.client.create(Pod, {
    metadata: { name, namespace, labels: { app }, annotations },
    spec: { containers },
  });
}

/** The names of the pods behind a service, according to the Endpoints and according to the slices. */
async function behind(name: string): Promise<{ ready: string[]; notReady: string[]; inSlices: string[] }> {
  const { subsets = [] } = await cluster.client.get(Endpoints, { namespace, name });
  const slices = await cluster.client.list(EndpointSlice, {
    namespace,
    labels: { "kubernetes.io/service-name": name },
  });
  const names = (addresses: readonly { targetRef?: { name?: string | undefined } | undefined }[]) =>
    addresses.map(({ targetRef }) => targetRef?.name ?? "").sort();
  return {
    ready: names(subsets.flatMap(({ addresses = [] }) => addresses)),
    notReady: names(subsets.flatMap(({ notReadyAddresses = [] }) => notReadyAddresses)),
    inSlices: names(slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready)),
  };
}

test("endpointsController and endpointSliceController follow pods as they come, get ready and go", async () => {
  const { client } = cluster;
  const ports = [{ name: "main", port: 80, targetPort: "http" }];
  await client.create(Service, { metadata: { name: "web", namespace }, spec: { selector: { app: "web" }, ports } });
  await makePod("one", "web");
  await makePod("two", "web", { "pods.binnacle.dev/ready-after": "never" });
  await eventually(async () =>
    expect(await behind("web")).toEqual({ ready: ["one"], notReady: ["two"], inSlices: ["one"] }),
  );
  const { subsets } = await client.get(Endpoints, { namespace, name: "web" });
  expect(subsets?.[0]?.ports).toEqual([{ name: "main", port: 8080, protocol: "TCP" }]);
  await client.patch(Pod, { namespace, name: "one" }, { type: "merge", body: { metadata: { labels: { app: "x" } } } });
  await eventually(async () => expect(await behind("web")).toEqual({ ready: [], notReady: ["two"], inSlices: [] }));
  await client.delete(Service, { namespace, name: "web" });
  await eventually(async () => {
    expect(await client.find(Endpoints, { namespace, name: "web" })).toBeUndefined();
    expect(await client.list(EndpointSlice, { namespace, labels: "kubernetes.io/service-name=web" })).toEqual([]);
  });
});

test("endpointSliceMirroring mirrors Endpoints made by hand, and none besides", async () => {
  const { client } = cluster;
  const key = { namespace, name: "hand" };
  await client.create(Endpoints, {
    metadata: key,
    subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }],
  });
  await client.create(Service, { metadata: key, spec: { ports: [{ port: 80 }] } });
  const mirrors = () => client.list(EndpointSlice, { namespace, labels: "kubernetes.io/service-name=hand" });
  await eventually(async () =>
    expect((await mirrors()).map(({ endpoints }) => endpoints?.[0]?.addresses)).toEqual([["192.0.2.1"]]),
  );
  const body = { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } };
  await client.patch(Endpoints, key, { type: "merge", body });
  await eventually(async () => expect(await mirrors()).toEqual([]));
});
