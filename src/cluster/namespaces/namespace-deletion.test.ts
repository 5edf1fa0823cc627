import { expect, test } from "bun:test";
import { resource } from "../../index.ts";
import { ConfigMap, CustomResourceDefinition, Namespace, Pod } from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
import { startCluster } from "../../testing/start-cluster.ts";

test("namespaceDeletion empties a namespace, says what holds it, and lets it go", async () => {
  await using cluster = await startCluster({ server: "embedded" });
  const { client } = cluster;
  const Thing = resource("example.com/v1", "Thing");
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await client.create(CustomResourceDefinition, {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  const namespace = "shop";
  await client.create(Namespace, { metadata: { name: namespace } });
  const held = { namespace, finalizers: ["example.com/hold"] };
  await eventually(() => client.create(Thing, { metadata: { name: "thing", ...held } }));
  await client.create(ConfigMap, { metadata: { name: "free", namespace } });
  const containers = [{ name: "web", image: "web:1" }];
  await client.create(Pod, { metadata: { name: "pod", namespace }, spec: { containers } });
  await client.delete(Namespace, { name: namespace });
  const waiting = await eventually(async () => {
    const found = await client.get(Namespace, { name: namespace });
    expect(found.status?.conditions?.map(({ type, message }) => [type, message])).toContainEqual([
      "NamespaceContentRemaining",
      "Some resources are remaining: things.example.com has 1 resource instances",
    ]);
    return found;
  });
  expect(waiting.status?.phase).toBe("Terminating");
  expect(await client.find(ConfigMap, { namespace, name: "free" })).toBeUndefined();
  const body = { metadata: { finalizers: null } };
  await client.patch(Thing, { namespace, name: "thing" }, { type: "merge", body });
  await eventually(async () => expect(await client.find(Namespace, { name: namespace })).toBeUndefined());
});
