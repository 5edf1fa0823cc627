import { expect, test } from "bun:test";
import { CronJob, Job, Secret, Service, StatefulSet } from "binnacle/resources";
import { eventually, matchers, runModule, startCluster } from "binnacle/testing";
import { Database, database } from "./database.ts";

expect.extend(matchers);
const key = { namespace: "default", name: "orders" };
const credentials = { ...key, name: "orders-credentials" };
const lastBackup = { ...key, name: "orders-last-backup" };

test("a database has a server, Services, credentials and backups, and becomes ready", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(database, cluster);
  const { client } = cluster;
  const created = await client.create(Database, { metadata: key, spec: { replicas: 2 } });
  await eventually(async () => {
    const children = [
      ...(await client.list(StatefulSet)),
      ...(await client.list(Service)),
      ...(await client.list(Secret)),
      ...(await client.list(CronJob)),
    ];
    expect(created).toHaveChildren(children, [
      "StatefulSet orders",
      "Service orders",
      "Service orders-nodes",
      "Secret orders-credentials",
      "CronJob orders-backup",
    ]);
    expect(await client.get(Database, key)).toHaveCondition("Ready", { reason: "AllReady" });
  });
  expect(await client.get(Database, key)).toHaveCondition("BackedUp", { status: "False", reason: "NoneYet" });
});

test("its password is generated once", async () => {
  await using cluster = await startCluster({ pods: false });
  const first = await runModule(database, cluster);
  const { client } = cluster;
  await client.create(Database, { metadata: key, spec: {} });
  const { data } = await eventually(() => client.get(Secret, credentials));
  await first.stop();
  await using second = await runModule(database, cluster);
  await client.patch(Database, key, { type: "merge", body: { spec: { replicas: 2 } } });
  await eventually(async () => expect((await client.get(StatefulSet, key)).spec?.replicas).toBe(2));
  await second.idle();
  expect((await client.get(Secret, credentials)).data).toEqual(data);
});

test("it goes after its last backup, which stays", async () => {
  await using cluster = await startCluster(); // the pods of Jobs do their work and end
  await using _ = await runModule(database, cluster);
  const { client } = cluster;
  await client.create(Database, { metadata: key, spec: {} });
  await eventually(() => client.get(StatefulSet, key));
  const uid = (await client.get(Database, key)).metadata.uid;
  await client.delete(Database, key);
  await eventually(async () => (await client.find(Database, key)) === undefined, { within: "90s" });
  const job = await client.get(Job, lastBackup);
  expect(job).not.toBeControlledBy({ metadata: { uid } });
  expect(job).toHaveCondition("Complete");
});
