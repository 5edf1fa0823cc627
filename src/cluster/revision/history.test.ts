import { expect, test } from "bun:test";
import { ControllerRevision, DaemonSet, StatefulSet } from "../../resource/builtin/index.ts";
import { eventually, startCluster } from "../../testing/index.ts";

test("historyOf numbers the newest revision highest, also where JavaScript has no next number", async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  const namespace = "default";
  const labels = { app: "db" };
  const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: "db", image }] } });
  await client.create(StatefulSet, {
    metadata: { namespace, name: "db" },
    spec: { replicas: 0, serviceName: "db", selector: { matchLabels: labels }, template: templateOf("db:1") },
  });
  const revisions = () => client.list(ControllerRevision, { namespace });
  await eventually(async () => expect(await revisions()).toHaveLength(1));
  const [first] = await revisions();
  const last = 2 ** 53;
  await client.patch(ControllerRevision, first!.metadata, { type: "merge", body: { revision: last } });
  const body = { spec: { template: templateOf("db:2") } };
  await client.patch(StatefulSet, { namespace, name: "db" }, { type: "merge", body });
  await eventually(async () => {
    const newest = (await revisions()).find(({ metadata: { name } }) => name !== first!.metadata.name);
    expect(newest?.revision).toBeGreaterThan(last);
  });
});

test("a second revision of a DaemonSet's template stays until the set runs again", async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  const template = (app: string) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: "agent", image: "agent:1" }] },
  });
  const runs = async (name: string) => {
    const key = { namespace: "default", name };
    const spec = { selector: { matchLabels: { app: name } }, template: template(name) };
    await client.create(DaemonSet, { metadata: key, spec });
    await eventually(async () => expect((await client.live.get(DaemonSet, key)).status?.numberAvailable).toBe(1));
    return key;
  };
  const key = await runs("agent");
  const revisions = () => client.live.list(ControllerRevision, { namespace: "default", labels: "app=agent" });
  const [first] = await revisions();
  const { labels, ownerReferences } = first!.metadata;
  const metadata = { namespace: "default", name: "agent-again", labels, ownerReferences };
  await client.create(ControllerRevision, { metadata, data: first!.data, revision: first!.revision + 1 });
  await runs("other"); // by then the set would have run
  expect(await revisions()).toHaveLength(2);
  await client.patch(DaemonSet, key, { type: "merge", body: { spec: { minReadySeconds: 1 } } });
  await eventually(async () => expect(await revisions()).toHaveLength(1));
});
