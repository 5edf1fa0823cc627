import { describe, expect, test } from "bun:test";
import { Deployment, type DeploymentSpec, Pod, ReplicaSet } from "../../resource/builtin/index.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { eventually, startCluster, type TestCluster } from "../../testing/index.ts";

const namespace = "default";
const key = { namespace, name: "web" };

interface Wanted extends Partial<DeploymentSpec> {
  readonly image?: string;
}

function specOf({ image = "web:1", ...spec }: Wanted): DeploymentSpec {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image }] } };
  return { selector: { matchLabels: labels }, template, ...spec };
}

async function condition(cluster: TestCluster, type: string): Promise<string | undefined> {
  const { status } = await cluster.client.get(Deployment, key);
  return status?.conditions?.find((one) => one.type === type)?.reason;
}

async function eventuallyReady(cluster: TestCluster, ready: number): Promise<void> {
  await eventually(async () => {
    const { status } = await cluster.client.get(Deployment, key);
    expect(status?.readyReplicas ?? 0).toBe(ready);
  });
}

describe("deploymentController", () => {
  test("calls a rollout stuck once its deadline has passed, and not before", async () => {
    const clock = new FakeClock();
    await using cluster = await startCluster({ clock, pods: () => ({ readyAfter: false }) });
    const spec = specOf({ replicas: 1, progressDeadlineSeconds: 600 });
    await cluster.client.create(Deployment, { metadata: key, spec });
    await eventually(async () => expect((await cluster.client.get(Deployment, key)).status?.replicas).toBe(1));
    await clock.advanceInTurns(590_000);
    expect(await condition(cluster, "Progressing")).toBe("ReplicaSetUpdated");
    await clock.advanceInTurns(20_000);
    await eventually(async () => expect(await condition(cluster, "Progressing")).toBe("ProgressDeadlineExceeded"));
  });

  test("counts a pod as available after minReadySeconds", async () => {
    const clock = new FakeClock();
    await using cluster = await startCluster({ clock });
    await cluster.client.create(Deployment, { metadata: key, spec: specOf({ replicas: 1, minReadySeconds: 30 }) });
    await eventuallyReady(cluster, 1);
    expect(await condition(cluster, "Available")).toBe("MinimumReplicasUnavailable");
    await clock.advanceInTurns(31_000);
    await eventually(async () => expect(await condition(cluster, "Available")).toBe("MinimumReplicasAvailable"));
  });

  test("tries another name when the hash of a template is taken", async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    await client.create(Deployment, { metadata: key, spec: specOf({ replicas: 1 }) });
    await eventuallyReady(cluster, 1);
    const [first] = await client.list(ReplicaSet, { namespace });
    // The ReplicaSet does not match any more and is released, but its name is taken.
    const labels = { app: "other" };
    await client.patch(
      ReplicaSet,
      { namespace, name: first!.metadata.name },
      { type: "merge", body: { metadata: { labels } } },
    );
    await eventually(async () => expect((await client.get(Deployment, key)).status?.collisionCount).toBe(1));
    await eventually(async () => expect(await client.list(ReplicaSet, { namespace })).toHaveLength(2));
    await eventuallyReady(cluster, 1);
  });

  test("counts revisions beyond 2^53 exactly", async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const { selector, template } = specOf({ image: "web:0" });
    const revision = "deployment.kubernetes.io/revision";
    const annotations = { [revision]: "3546343826724305832" };
    const { labels } = template.metadata!;
    const metadata = { name: "adopted", namespace, labels, annotations };
    await client.create(ReplicaSet, { metadata, spec: { replicas: 1, selector, template } });
    await client.create(Deployment, { metadata: key, spec: specOf({ replicas: 1 }) });
    await eventually(async () => {
      const { metadata } = await client.get(Deployment, key);
      expect(metadata.annotations?.[revision]).toBe("3546343826724305833");
    });
    const made = (await client.list(ReplicaSet, { namespace })).find((set) => set.metadata.name !== "adopted");
    expect(made?.metadata.annotations?.[revision]).toBe("3546343826724305833");
    // The template of the adopted one comes back, and it becomes the newest.
    const body = { spec: { template } };
    await client.patch(Deployment, key, { type: "merge", body });
    await eventually(async () => {
      const { metadata } = await client.get(ReplicaSet, { namespace, name: "adopted" });
      expect(metadata.annotations).toMatchObject({
        [revision]: "3546343826724305834",
        "deployment.kubernetes.io/revision-history": "3546343826724305832",
      });
    });
  });

  test("leaves pods pending where nobody runs them", async () => {
    await using cluster = await startCluster({ pods: false });
    await cluster.client.create(Deployment, { metadata: key, spec: specOf({ replicas: 2 }) });
    await eventually(async () => expect(await cluster.client.list(Pod, { namespace })).toHaveLength(2));
    for (const { spec, status } of await cluster.client.list(Pod, { namespace })) {
      expect([spec.nodeName, status?.phase]).toEqual([undefined, "Pending"]);
    }
  });

  test("a program says how containers fare, start by start", async () => {
    const starts: number[] = [];
    await using cluster = await startCluster({
      pods: (_, __, { restarts }) => {
        starts.push(restarts);
        return restarts < 2 ? { exitsAfter: 0, exitCode: 1, restartsAfter: 0 } : {};
      },
    });
    await cluster.client.create(Deployment, { metadata: key, spec: specOf({ replicas: 1 }) });
    const restarts = async (): Promise<number | undefined> =>
      (await cluster.client.list(Pod, { namespace }))[0]?.status?.containerStatuses?.[0]?.restartCount;
    await eventually(async () => expect(await restarts()).toBe(2));
    await eventuallyReady(cluster, 1);
    expect(new Set(starts)).toEqual(new Set([0, 1, 2]));
  });
});
