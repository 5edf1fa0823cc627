/** Tests the example of a larger operator on a real cluster. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster, type Json } from "../support/cluster.ts";

const DATABASES = "/apis/demo.binnacle.dev/v1/namespaces/default/databases";
const CORE = "/api/v1/namespaces/default";
const SERVERS = "/apis/apps/v1/namespaces/default/statefulsets";
const JOBS = "/apis/batch/v1/namespaces/default/jobs";

describe.skipIf(!available)("database", () => {
  let cluster: Cluster;
  let bench: Bench;
  let operator: Operator;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start(), Bench.create()]);
    await bench.example("database");
    operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--install-crds"] });
    await operator.ready();
    await cluster.collectNewKinds();
  }, 180_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const create = (name: string, spec: object = {}): Promise<Json> =>
    cluster.send("POST", DATABASES, {
      body: { apiVersion: "demo.binnacle.dev/v1", kind: "Database", metadata: { name }, spec },
    });
  /** There is no kubelet, so the test ends the pods of a Job. */
  const endPods = async (job: string, phase: "Succeeded" | "Failed"): Promise<void> => {
    await cluster.exists(`${CORE}/pods?labelSelector=job-name=${job}`, ({ items }) => items!.length > 0);
    const { items = [] } = (await cluster.get(`${CORE}/pods?labelSelector=job-name=${job}`))!;
    for (const { metadata } of items) {
      await cluster.send("PATCH", `${CORE}/pods/${metadata.name}/status`, {
        body: { status: { phase } },
        type: "application/merge-patch+json",
      });
    }
  };

  test("makes a server, its Services, credentials, and a backup every night", async () => {
    await create("main", { replicas: 2 });
    const server = await cluster.exists(`${SERVERS}/main`);
    expect(server.spec).toMatchObject({ replicas: 2, serviceName: "main-nodes" });
    await cluster.exists(`${CORE}/services/main`);
    expect((await cluster.exists(`${CORE}/services/main-nodes`)).spec).toMatchObject({ clusterIP: "None" });
    const backup = await cluster.exists("/apis/batch/v1/namespaces/default/cronjobs/main-backup");
    expect(backup.spec).toMatchObject({ schedule: "0 3 * * *", concurrencyPolicy: "Forbid" });
    const { status } = await cluster.exists(`${DATABASES}/main`, ({ status }) => status?.conditions?.length === 2);
    expect(status).toMatchObject({ observedGeneration: 1, readyReplicas: 0 });
    expect(status!.conditions!.map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort()).toEqual([
      "BackedUp=False NoneYet",
      "Ready=False WaitingForReplicas",
    ]);
  });

  test("never makes another password, also when the operator starts again", async () => {
    const path = `${CORE}/secrets/main-credentials`;
    const before = await cluster.exists(path);
    expect(Buffer.from(before.data!["password"]!, "base64").toString()).toHaveLength(36);
    await cluster.patch(`${DATABASES}/main`, { spec: { replicas: 3 } });
    await cluster.exists(`${SERVERS}/main`, ({ spec }) => spec?.["replicas"] === 3);
    await operator.stop();
    operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await operator.ready();
    await cluster.patch(`${DATABASES}/main`, { spec: { replicas: 1 } });
    await cluster.exists(`${SERVERS}/main`, ({ spec }) => spec?.["replicas"] === 1);
    const after = await cluster.exists(path);
    expect(after.data).toEqual(before.data);
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(operator.text).not.toContain(before.data!["password"]!);
  });

  test("waits for a last backup before it goes", async () => {
    await cluster.send("DELETE", `${DATABASES}/main`);
    await cluster.exists(`${JOBS}/main-last-backup`);
    expect((await cluster.exists(`${DATABASES}/main`)).metadata.finalizers).toEqual(["demo.binnacle.dev/database"]);
    await endPods("main-last-backup", "Succeeded");
    await cluster.gone(`${DATABASES}/main`);
    await cluster.gone(`${SERVERS}/main`, 60_000);
    expect(await cluster.get(`${JOBS}/main-last-backup`)).toBeDefined(); // the last backup's report stays
  }, 180_000);

  test("stays when the last backup fails, until its Job is deleted", async () => {
    await create("broken");
    await cluster.exists(`${DATABASES}/broken`, ({ metadata }) => metadata.finalizers !== undefined);
    await cluster.send("DELETE", `${DATABASES}/broken`);
    await cluster.exists(`${JOBS}/broken-last-backup`);
    await cluster.patch(`${JOBS}/broken-last-backup`, { spec: { backoffLimit: 0 } }).catch(() => undefined);
    await cluster.patch(`${JOBS}/broken-last-backup`, { spec: { activeDeadlineSeconds: 1 } });
    const failed = await cluster.exists(
      `${DATABASES}/broken`,
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "LastBackupFailed") === true,
    );
    expect(failed.metadata.deletionTimestamp).toBeString();
    await cluster.send("DELETE", `${JOBS}/broken-last-backup`, { body: { propagationPolicy: "Background" } });
    await cluster.exists(`${JOBS}/broken-last-backup`, ({ metadata }) => metadata.deletionTimestamp === undefined);
    await endPods("broken-last-backup", "Succeeded");
    await cluster.gone(`${DATABASES}/broken`);
  }, 180_000);
});
