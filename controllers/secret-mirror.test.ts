import { expect, test } from "bun:test";
import { Namespace, Secret } from "binnacle/resources";
import { eventually, runModule, startCluster, type TestCluster } from "binnacle/testing";
import { secretMirror } from "./secret-mirror.ts";

const source = { namespace: "default", name: "registry-login" };
const copy = (namespace: string) => ({ namespace, name: "registry-login" });
const annotations = { "mirror.binnacle.dev/to": "team-a, team-b" };

async function createNamespaces({ client }: TestCluster, ...names: string[]): Promise<void> {
  await Promise.all(names.map((name) => client.create(Namespace, { metadata: { name } })));
}

test("a Secret is copied to the namespaces that it names, and follows its source", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(secretMirror, cluster);
  const { client } = cluster;
  await createNamespaces(cluster, "team-a", "team-b", "team-c");
  await client.create(Secret, { metadata: { ...source, annotations }, stringData: { token: "one" } });
  await eventually(async () => expect((await client.get(Secret, copy("team-b"))).data).toEqual({ token: btoa("one") }));
  await client.patch(Secret, source, { type: "merge", body: { stringData: { token: "two" } } });
  await eventually(async () => expect((await client.get(Secret, copy("team-a"))).data).toEqual({ token: btoa("two") }));
  expect(await client.find(Secret, copy("team-c"))).toBeUndefined();
});

test("a namespace that comes later gets its copy", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(secretMirror, cluster);
  const { client } = cluster;
  await createNamespaces(cluster, "team-a");
  await client.create(Secret, { metadata: { ...source, annotations }, stringData: { token: "one" } });
  await eventually(() => client.get(Secret, copy("team-a")));
  expect(await client.find(Secret, copy("team-b"))).toBeUndefined();
  await createNamespaces(cluster, "team-b");
  await eventually(() => client.get(Secret, copy("team-b")));
});

test("copies go when the annotation does, and with their source", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(secretMirror, cluster);
  const { client } = cluster;
  await createNamespaces(cluster, "team-a", "team-b");
  await client.create(Secret, { metadata: { ...source, annotations }, stringData: { token: "one" } });
  await eventually(() => Promise.all(["team-a", "team-b"].map((namespace) => client.get(Secret, copy(namespace)))));
  await client.patch(Secret, source, {
    type: "merge",
    body: { metadata: { annotations: { "mirror.binnacle.dev/to": "team-a" } } },
  });
  await eventually(async () => (await client.find(Secret, copy("team-b"))) === undefined);
  expect(await client.find(Secret, copy("team-a"))).toBeDefined();
  await client.delete(Secret, source);
  await eventually(async () => (await client.find(Secret, copy("team-a"))) === undefined);
  await eventually(async () => (await client.find(Secret, source)) === undefined);
});
