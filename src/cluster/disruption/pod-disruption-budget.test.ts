import { expect, test } from "bun:test";
import { Deployment, Pod, PodDisruptionBudget } from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
import { startCluster } from "../../testing/start-cluster.ts";

test("disruptionController allows evictions down to the budget, and no further", async () => {
  await using cluster = await startCluster({ server: "embedded" });
  const { client } = cluster;
  const key = { namespace: "default", name: "web" };
  const labels = { app: "web" };
  await client.create(PodDisruptionBudget, {
    metadata: key,
    spec: { selector: { matchLabels: labels }, maxUnavailable: "34%" },
  });
  await client.create(Deployment, {
    metadata: key,
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    },
  });
  const status = async () => (await client.get(PodDisruptionBudget, key)).status;
  // 34 % of 3 pods, rounded up.
  await eventually(async () =>
    expect(await status()).toMatchObject({
      expectedPods: 3,
      currentHealthy: 3,
      desiredHealthy: 1,
      disruptionsAllowed: 2,
    }),
  );
  expect((await status())?.conditions?.[0]).toMatchObject({ type: "DisruptionAllowed", status: "True" });
  await client.patch(PodDisruptionBudget, key, { type: "merge", body: { spec: { maxUnavailable: 0 } } });
  await eventually(async () => expect(await status()).toMatchObject({ disruptionsAllowed: 0, desiredHealthy: 3 }));
  const [pod] = await client.list(Pod, { namespace: "default" });
  await expect(client.evict({ namespace: "default", name: pod!.metadata.name })).rejects.toMatchObject({
    status: { code: 429 },
  });
});
