import { describe, expect, test } from "bun:test";
import type { JobSpec, PodTemplateSpec } from "../../resource/builtin/index.ts";
import { Job, Pod } from "../../resource/builtin/index.ts";
import { createLog } from "../../observe/log.ts";
import { apiClient } from "../../testing/api-client.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { eventually, startCluster } from "../../testing/index.ts";
import { startEmbeddedCluster } from "../embedded-cluster.ts";
import { isTracked } from "./job-pods.ts";

const namespace = "default";

/** `does` describes the behaviour of the pods: annotations of `pods.binnacle.dev`. */
function template(does: Readonly<Record<string, string>> = {}): PodTemplateSpec {
  const annotations = Object.fromEntries(
    Object.entries(does).map(([name, value]) => [`pods.binnacle.dev/${name}`, value]),
  );
  return { metadata: { annotations }, spec: { restartPolicy: "Never", containers: [{ name: "work", image: "work" }] } };
}

function job(
  name: string,
  spec: Partial<JobSpec> = {},
): { metadata: { name: string; namespace: string }; spec: JobSpec } {
  return { metadata: { name, namespace }, spec: { template: template(), ...spec } };
}

function ended({ status }: Job, type: string, reason?: string): boolean {
  const condition = status?.conditions?.find((one) => one.type === type && one.status === "True");
  return condition !== undefined && (reason === undefined || condition.reason === reason);
}

describe("jobController", () => {
  test("fails a Job at its deadline", async () => {
    const clock = new FakeClock();
    await using cluster = await startCluster({ clock });
    await cluster.client.create(
      Job,
      job("slow", { activeDeadlineSeconds: 600, template: template({ "exits-after": "never" }) }),
    );
    const key = { namespace, name: "slow" };
    await eventually(async () => (await cluster.client.get(Job, key)).status?.ready === 1);
    clock.advance(599_000);
    await Bun.sleep(20);
    expect(ended(await cluster.client.get(Job, key), "Failed")).toBe(false);
    clock.advance(1_000);
    await eventually(async () => ended(await cluster.client.get(Job, key), "Failed", "DeadlineExceeded"));
    expect(await cluster.client.list(Pod, { namespace })).toHaveLength(0);
  });

  test("waits longer after each failure", async () => {
    const clock = new FakeClock();
    await using cluster = await startCluster({ clock });
    await cluster.client.create(Job, job("bad", { backoffLimit: 2, template: template({ "exit-code": "1" }) }));
    const failed = async (count: number) =>
      eventually(async () => (await cluster.client.get(Job, { namespace, name: "bad" })).status?.failed === count);
    await failed(1);
    for (const [wait, count] of [
      [10_000, 2],
      [20_000, 3],
    ] as const) {
      // Pods end on whole seconds.
      clock.advance(wait - 1_000);
      await Bun.sleep(20);
      await failed(count - 1);
      clock.advance(1_000);
      await failed(count);
    }
    const now = await cluster.client.get(Job, { namespace, name: "bad" });
    expect(ended(now, "Failed", "BackoffLimitExceeded")).toBe(true);
  });
});

describe("ttlAfterFinishedController", () => {
  test("deletes a Job and its pods", async () => {
    const clock = new FakeClock();
    await using cluster = await startCluster({ clock });
    await cluster.client.create(Job, job("quick", { ttlSecondsAfterFinished: 3600 }));
    const key = { namespace, name: "quick" };
    await eventually(async () => ended(await cluster.client.get(Job, key), "Complete"));
    clock.advance(3_599_000);
    await Bun.sleep(20);
    expect(await cluster.client.find(Job, key)).toBeDefined();
    clock.advance(1_000);
    await eventually(async () => (await cluster.client.find(Job, key)) === undefined);
    await eventually(async () => (await cluster.client.list(Pod, { namespace })).length === 0);
  });
});

/** Fails every n-th write before it happens, and loses the response of every n-th one after it happened. */
function lossy(n: number): (answer: Answer) => Answer {
  let writes = 0;
  const lost = () => Response.json({ kind: "Status", apiVersion: "v1", status: "Failure", code: 500 }, { status: 500 });
  return (answer) => async (request) => {
    const isOfTest = request.headers.get("user-agent") === "test";
    if (isOfTest || request.method === "GET") return answer(request);
    writes++;
    if (writes % n === 0) return lost();
    const response = await answer(request);
    return writes % n === Math.floor(n / 2) ? lost() : response;
  };
}

type Answer = (request: Request) => Promise<Response>;

describe("trackPods", () => {
  test("counts each pod once, whatever is lost", async () => {
    await using cluster = await startEmbeddedCluster({ through: lossy(9) });
    const api = apiClient(cluster.config, {
      manager: "test",
      log: createLog({ level: "error", format: "pretty" }),
    });
    const { client } = api;
    const mode = { completionMode: "Indexed", completions: 9, parallelism: 3, backoffLimitPerIndex: 0 };
    const half = template({ "exit-code": "0" });
    const someFail = {
      ...half,
      metadata: { annotations: { ...half.metadata?.annotations, "index-4.pods.binnacle.dev/exit-code": "1" } },
    };
    await client.create(Job, job("plain", { completions: 12, parallelism: 4 }));
    await client.create(Job, job("indexed", { ...mode, template: someFail }));
    await client.create(
      Job,
      job("failing", { parallelism: 5, completions: 5, backoffLimit: 2, template: template({ "exit-code": "1" }) }),
    );
    const get = (name: string) => client.get(Job, { namespace, name });
    await eventually(async () => ended(await get("plain"), "Complete"), { within: "90s" });
    await eventually(async () => ended(await get("indexed"), "Failed", "FailedIndexes"), { within: "90s" });
    await eventually(async () => ended(await get("failing"), "Failed", "BackoffLimitExceeded"), { within: "90s" });
    const [plain, indexed, failing] = await Promise.all(["plain", "indexed", "failing"].map(get));
    const pods = await client.list(Pod, { namespace });
    const ofJob = (name: string, phase: string) =>
      pods.filter(({ metadata, status }) => metadata.labels?.["job-name"] === name && status?.phase === phase).length;
    expect(plain?.status).toMatchObject({ succeeded: ofJob("plain", "Succeeded"), uncountedTerminatedPods: {} });
    expect(plain?.status?.failed).toBeUndefined();
    expect(indexed?.status).toMatchObject({ succeeded: 8, failed: 1, completedIndexes: "0-3,5-8", failedIndexes: "4" });
    // Those that had not ended when the Job ended were deleted.
    expect(failing?.status?.failed).toBeGreaterThanOrEqual(Math.max(3, ofJob("failing", "Failed")));
    expect(failing?.status?.failed).toBeLessThanOrEqual(5);
    expect(pods.filter(isTracked)).toEqual([]);
    await api.close();
  }, 180_000);
});
