import { expect, test } from "bun:test";
import { Pod } from "binnacle/resources";
import { eventually, runModule, startCluster } from "binnacle/testing";
import { podLogger } from "./pod-logger.ts";

const key = { namespace: "default", name: "web" };
const spec = { containers: [{ name: "web", image: "nginx" }] };

test("a pod is logged when it comes, and when it runs", async () => {
  await using cluster = await startCluster();
  await using module = await runModule(podLogger, cluster);
  await cluster.client.create(Pod, { metadata: key, spec });
  const running = { level: "info", msg: "Sync of pod web", phase: "Running", attempt: 1 };
  await eventually(() => expect(module.log).toContainEqual(expect.objectContaining(running)));
});

test("a pod of another namespace is not", async () => {
  await using cluster = await startCluster();
  await using module = await runModule(podLogger, cluster);
  await cluster.client.create(Pod, { metadata: { namespace: "kube-system", name: "other" }, spec });
  await cluster.client.create(Pod, { metadata: key, spec });
  await eventually(() => module.log.some(({ msg }) => msg === "Sync of pod web"));
  expect(module.log.filter(({ msg }) => msg === "Sync of pod other")).toEqual([]);
});

test("a pod that asks to fail is parked after six failures, until it changes", async () => {
  await using cluster = await startCluster({ pods: false });
  await using module = await runModule(podLogger, cluster, { show: "none" });
  const annotations = { "pod-logger/fail": "true" };
  await cluster.client.create(Pod, { metadata: { ...key, annotations }, spec });
  await eventually(() => module.log.some(({ msg }) => msg.startsWith("Parked after 6 failures in a row")));
  expect(module.log.filter(({ msg }) => msg === "Reconcile failed")).toHaveLength(5);
  await cluster.client.patch(Pod, key, {
    type: "merge",
    body: { metadata: { annotations: { "pod-logger/fail": null } } },
  });
  const synced = { msg: "Sync of pod web", attempt: 1 };
  await eventually(() => expect(module.log).toContainEqual(expect.objectContaining(synced)));
});
