import { expect, test } from "bun:test";
import { ControllerRevision, StatefulSet } from "../../resource/builtin/index.ts";
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
