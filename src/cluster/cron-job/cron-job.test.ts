import { describe, expect, test } from "bun:test";
import { CronJob, type CronJobSpec, Event, Job } from "../../resource/builtin/index.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { eventually, startCluster, type TestCluster } from "../../testing/index.ts";

const namespace = "default";
const key = { namespace, name: "tick" };
const minute = 60_000;
const start = Date.parse("2024-03-10T10:00:30Z");

/** With `lasting`, pods run until they are deleted. */
function create(cluster: TestCluster, spec: Partial<CronJobSpec>, lasting = false): Promise<CronJob> {
  const annotations = lasting ? { "pods.binnacle.dev/exits-after": "never" } : {};
  const pod = { restartPolicy: "Never", containers: [{ name: "work", image: "work" }] };
  const jobTemplate = { spec: { template: { metadata: { annotations }, spec: pod } } };
  return cluster.client.create(CronJob, {
    metadata: key,
    spec: { schedule: "* * * * *", timeZone: "Etc/UTC", jobTemplate, ...spec },
  });
}

async function jobNames(cluster: TestCluster): Promise<string[]> {
  return (await cluster.client.list(Job, { namespace })).map(({ metadata }) => metadata.name).sort();
}

/** The name of the Job of a time. */
const nameAt = (time: string) => `tick-${Date.parse(time) / minute}`;

function eventuallyJobs(cluster: TestCluster, ...times: string[]): Promise<void> {
  return eventually(async () => expect(await jobNames(cluster)).toEqual(times.map(nameAt)));
}

async function reasons(cluster: TestCluster): Promise<(string | undefined)[]> {
  const events = await cluster.client.list(Event, { namespace });
  return events.filter(({ regarding }) => regarding?.kind === "CronJob").map(({ reason }) => reason);
}

/** Waits until the controller has looked at the CronJob. */
async function seen(cluster: TestCluster): Promise<void> {
  await eventually(async () => (await cluster.client.find(CronJob, key)) !== undefined);
  await settled();
}

/** Waits until all that follows from a change has happened; it runs in this process, in turns of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await Bun.sleep(1);
}

describe("cronJobController", () => {
  test("makes a Job at each time of the schedule, and keeps the last ones", async () => {
    const clock = new FakeClock(start);
    await using cluster = await startCluster({ clock });
    await create(cluster, { successfulJobsHistoryLimit: 2 });
    await seen(cluster);
    expect(await jobNames(cluster)).toEqual([]);
    clock.advance(30_200);
    await eventuallyJobs(cluster, "2024-03-10T10:01:00Z");
    const isDone = async () => (await cluster.client.get(CronJob, key)).status?.lastSuccessfulTime !== undefined;
    await eventually(isDone);
    for (const [time, before] of [
      ["2024-03-10T10:02:00Z", "2024-03-10T10:01:00Z"],
      ["2024-03-10T10:03:00Z", "2024-03-10T10:02:00Z"],
    ] as const) {
      clock.advance(minute);
      await eventuallyJobs(cluster, before, time);
      await eventually(async () => (await cluster.client.get(CronJob, key)).status?.active === undefined);
    }
    const { status } = await cluster.client.get(CronJob, key);
    expect(status?.lastScheduleTime).toBe("2024-03-10T10:03:00Z");
    const [job] = await cluster.client.list(Job, { namespace });
    const annotation = job?.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"];
    expect(annotation).toBe("2024-03-10T10:02:00Z");
  });

  test.each([
    ["Allow", ["2024-03-10T10:01:00Z", "2024-03-10T10:02:00Z"], 2],
    ["Forbid", ["2024-03-10T10:01:00Z"], 1],
    ["Replace", ["2024-03-10T10:02:00Z"], 1],
  ])("%s when the last Job still runs", async (concurrencyPolicy, times, active) => {
    const clock = new FakeClock(start);
    await using cluster = await startCluster({ clock });
    await create(cluster, { concurrencyPolicy }, true);
    await seen(cluster);
    clock.advance(30_200);
    await eventuallyJobs(cluster, "2024-03-10T10:01:00Z");
    await eventually(async () => (await cluster.client.get(CronJob, key)).status?.active?.length === 1);
    clock.advance(minute);
    await eventuallyJobs(cluster, ...times);
    await eventually(async () => (await cluster.client.get(CronJob, key)).status?.active?.length === active);
    if (concurrencyPolicy === "Forbid") {
      await eventually(async () => expect(await reasons(cluster)).toContain("JobAlreadyActive"));
    }
  });

  test("a schedule that changes asks for nothing before its next time", async () => {
    const clock = new FakeClock(start);
    await using cluster = await startCluster({ clock });
    await create(cluster, { schedule: "0 0 1 1 *" });
    await seen(cluster);
    clock.advance(30 * minute);
    await cluster.client.patch(CronJob, key, { type: "merge", body: { spec: { schedule: "15 * * * *" } } });
    await settled();
    expect(await jobNames(cluster)).toEqual([]);
    clock.advance(45 * minute);
    await eventuallyJobs(cluster, "2024-03-10T11:15:00Z");
  });

  test("a time that is too late is missed", async () => {
    const clock = new FakeClock(start);
    await using cluster = await startCluster({ clock });
    await create(cluster, { schedule: "0 11 * * *", startingDeadlineSeconds: 60, suspend: true });
    await seen(cluster);
    clock.advance(65 * minute);
    await cluster.client.patch(CronJob, key, { type: "merge", body: { spec: { suspend: false } } });
    await settled();
    expect(await jobNames(cluster)).toEqual([]);
    await clock.advanceInTurns(24 * 60 * minute); // if it ran at once, the run would begin five minutes too late
    await eventuallyJobs(cluster, "2024-03-11T11:00:00Z");
  });
});
