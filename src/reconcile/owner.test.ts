import { allow, controllerReference, defineController, of, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { expect, test } from "bun:test";
import { runModule, startCluster } from "../testing/index.ts";

test("an object that is written by hand with a controller reference is owned: its changes run the owner, and it goes with it", async () => {
  await using cluster = await startCluster({ pods: false });
  const runs: string[] = [];
  const owner = defineController({
    name: "owner",
    for: watch(ConfigMap, { match: ({ metadata }) => metadata.name === "owner" }),
    owns: [ConfigMap],
    uses: [allow(ConfigMap, "create")],
    async reconcile(map, { client, causes }) {
      runs.push(causes.map(({ source, key }) => `${source} ${key?.name ?? ""}`).join());
      const metadata = { namespace: "default", name: "child", ownerReferences: [controllerReference(map)] };
      await client.createOrUpdate(ConfigMap, metadata, (draft) => {
        draft.metadata.ownerReferences = metadata.ownerReferences;
        draft.data = { by: "hand" };
      });
    },
  });
  await using module = await runModule(owner, cluster);
  const at = (name: string) => ({ namespace: "default", name });
  const { metadata } = await cluster.client.create(ConfigMap, { metadata: at("owner") });
  await module.idle();
  const child = await cluster.client.get(ConfigMap, at("child"));
  expect(child.metadata.ownerReferences).toEqual([
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "owner",
      uid: metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  runs.length = 0;
  await cluster.client.patch(ConfigMap, at("child"), { type: "merge", body: { data: { by: "others" } } });
  await module.idle();
  expect(runs.join(";")).toContain("owns child");
  expect((await cluster.client.get(ConfigMap, at("child"))).data).toEqual({ by: "hand" });
});

test("an object that the server has not stored cannot be referred to", () => {
  const draft = of(ConfigMap, { metadata: { name: "a" } });
  expect(() => controllerReference(draft as never)).toThrow(
    "Cannot refer to ConfigMap a as a controller: it has no UID",
  );
});
