/** What a controller reads of a kind of which it keeps nothing but metadata. */
import { expect, expectTypeOf, test } from "bun:test";
import { defineController, type DeepReadonly, type NamespacedMeta, watch } from "binnacle";
import { ConfigMap, Secret } from "binnacle/resources";
import { runModule, startCluster } from "../testing/index.ts";

const names = watch(Secret, {
  select: "metadata",
  // @ts-expect-error -- metadata is all there is
  match: (secret) => secret.metadata.name !== "hidden" && secret.data === undefined,
});

test('`select: "metadata"` gives a handle that reads metadata from the cache, and the kind\'s own reads whole objects', async () => {
  await using cluster = await startCluster({ pods: false });
  const seen: unknown[] = [];
  const reader = defineController({
    name: "reader",
    for: watch(ConfigMap, { match: ({ metadata }) => metadata.name === "ask" }),
    reads: [names],
    watches: [
      watch(names, {
        enqueue: (secret) => {
          // @ts-expect-error -- metadata is all there is
          void secret.type;
          return [{ namespace: "default", name: secret.metadata.labels?.["for"] ?? "" }];
        },
      }),
    ],
    async reconcile(_, { client }) {
      const key = { namespace: "default", name: "one" };
      const cached = await client.get(names, key);
      expectTypeOf(cached.metadata).toEqualTypeOf<NamespacedMeta>();
      // @ts-expect-error -- metadata is all there is
      void cached.data;
      const whole = await client.get(Secret, key);
      expectTypeOf(whole.data).toEqualTypeOf<DeepReadonly<{ [key: string]: string }> | undefined>();
      const listed = await client.list(names, { namespace: "default", labels: "for=ask" });
      seen.push([Object.keys(cached), whole.data, listed.map((one) => Object.keys(one))]);
    },
  });
  await cluster.client.create(Secret, {
    metadata: { namespace: "default", name: "one", labels: { for: "ask" } },
    data: { key: btoa("x") },
  });
  await using module = await runModule(reader, cluster);
  await cluster.client.create(ConfigMap, { metadata: { namespace: "default", name: "ask" } });
  await module.idle();
  const parts = expect.arrayContaining(["apiVersion", "kind", "metadata"]) as unknown;
  expect(seen.at(-1)).toEqual([parts, { key: btoa("x") }, [parts]]);
  const [cached] = seen.at(-1) as [string[]];
  expect(cached).toHaveLength(3);
  const before = seen.length;
  await cluster.client.patch(
    Secret,
    { namespace: "default", name: "one" },
    {
      type: "merge",
      body: { metadata: { labels: { more: "yes" } } },
    },
  );
  await module.idle();
  expect(seen.length).toBeGreaterThan(before);
});
