// A test has a cluster of its own: deployments roll out, pods run, and nothing is mocked. `binnacle test controllers`
import { expect, test } from "bun:test";
import { eventually, matchers, runModule, startCluster } from "binnacle/testing";
import { Deployment, Service } from "binnacle/resources";
import { Guestbook, guestbook } from "./guestbook.ts";

expect.extend(matchers);
const key = { namespace: "default", name: "hello" };

test("a guestbook becomes a Deployment and a Service, and is ready with its pods", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(guestbook, cluster);
  const { client } = cluster;
  const created = await client.create(Guestbook, { metadata: key, spec: { message: "hi", replicas: 2 } });
  await eventually(async () => {
    const children = [...(await client.list(Deployment)), ...(await client.list(Service))];
    expect(created).toHaveChildren(children, ["Deployment hello", "Service hello"]);
    expect(await client.get(Guestbook, key)).toHaveCondition("Ready", { reason: "AllReady" });
  });
  const { status } = await client.get(Guestbook, key);
  expect(status?.readyReplicas).toBe(2);
});

test("a guestbook without pods says what it waits for", async () => {
  await using cluster = await startCluster({ pods: false });
  await using _ = await runModule(guestbook, cluster);
  await cluster.client.create(Guestbook, { metadata: key, spec: { message: "hi" } });
  await eventually(async () => {
    const waiting = { status: "False", reason: "WaitingForReplicas", message: "0 of 1" } as const;
    expect(await cluster.client.get(Guestbook, key)).toHaveCondition("Ready", waiting);
  });
});

test("its Service goes when it is no longer exposed, and comes back", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(guestbook, cluster);
  const { client } = cluster;
  await client.create(Guestbook, { metadata: key, spec: { message: "hi" } });
  await eventually(() => client.get(Service, key));
  await client.patch(Guestbook, key, { type: "merge", body: { spec: { expose: false } } });
  await eventually(async () => (await client.find(Service, key)) === undefined);
  await client.delete(Deployment, key);
  await client.patch(Guestbook, key, { type: "merge", body: { spec: { expose: true } } });
  await eventually(async () => [await client.get(Service, key), await client.get(Deployment, key)]);
});

test("an exposed guestbook needs a replica: the server refuses it", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(guestbook, cluster);
  const refused = cluster.client.create(Guestbook, { metadata: key, spec: { message: "hi", replicas: 0 } });
  await expect(refused).rejects.toThrow("an exposed guestbook needs a replica");
});

test("it is finalized, and its children go with it", async () => {
  await using cluster = await startCluster();
  await using module = await runModule(guestbook, cluster);
  const { client } = cluster;
  await client.create(Guestbook, { metadata: key, spec: { message: "hi" } });
  await eventually(() => client.get(Deployment, key));
  await client.delete(Guestbook, key);
  await eventually(async () => (await client.find(Guestbook, key)) === undefined);
  expect(module.log.map(({ msg }) => msg)).toContain("The guestbook closes");
  await eventually(async () => (await client.find(Deployment, key)) === undefined, { within: "90s" });
});
