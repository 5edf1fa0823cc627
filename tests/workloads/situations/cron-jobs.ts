/** CronJobs that are due at once, because their status says that they last ran long ago. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Stage } from "../stage.ts";
import { hasCondition, template } from "../workloads.ts";

/** Due once a year, so that no time comes while a situation plays. */
const YEARLY = "0 0 1 1 *";

function cronJob(name: string, spec: Loose = {}, annotations: Readonly<Record<string, string>> = {}): Loose {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name },
    spec: { schedule: YEARLY, jobTemplate: jobTemplate(name, annotations), ...spec },
  };
}

function jobTemplate(name: string, annotations: Readonly<Record<string, string>>): Loose {
  return {
    metadata: { labels: { job: name } },
    spec: { template: template(name, { annotations, spec: { restartPolicy: "Never" } }) },
  };
}

const never = { "pods.binnacle.dev/exits-after": "never" };

/** Makes its last run one of long ago. */
async function makeDue(stage: Stage, name: string, status: Loose = {}): Promise<void> {
  const lastScheduleTime = new Date(Date.UTC(new Date().getUTCFullYear() - 1, 5, 1)).toISOString().replace(".000", "");
  await stage.patch("CronJob", name, { status: { lastScheduleTime, ...status } }, { subresource: "status" });
}

/** A Job that belongs to the CronJob, as one of an earlier time does. */
async function earlierJob(
  stage: Stage,
  name: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<Loose> {
  const { apiVersion, kind, metadata } = stage.find("CronJob", "tick");
  const owner = {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const { spec } = jobTemplate(name, annotations);
  return stage.create({ apiVersion: "batch/v1", kind: "Job", metadata: { name, ownerReferences: [owner] }, spec });
}

function reference({ metadata: { name, namespace, uid } }: Loose): Loose {
  return { apiVersion: "batch/v1", kind: "Job", name, namespace, uid };
}

/** With a Job of an earlier time that still runs. */
async function overlap(stage: Stage, concurrencyPolicy: string): Promise<void> {
  await stage.apply(cronJob("tick", { concurrencyPolicy, suspend: true }, never));
  await stage.settle("suspended", (now) => now.find("CronJob", "tick") !== undefined);
  const job = await earlierJob(stage, "earlier", never);
  await stage.until("running", (now) => now.find("Job", "earlier")?.status?.ready === 1);
  await makeDue(stage, "tick", { active: [reference(job)] });
  // kube-controller-manager works on what its cache has, and that is late now and then.
  await stage.settle("due", (now) => now.find("CronJob", "tick")?.status?.active?.length === 1, { quiet: 1000 });
  await stage.patch("CronJob", "tick", { spec: { suspend: false } });
}

export const cronJobs: readonly Situation[] = [
  situation("cron job: waits for its time", async (stage) => {
    await stage.apply(cronJob("tick"));
    await stage.settle("waits", (now) => now.find("CronJob", "tick") !== undefined, { quiet: 1000 });
  }),
  situation("cron job: starts a job that is due, and sees its end", async (stage) => {
    await stage.apply(cronJob("tick"));
    await makeDue(stage, "tick");
    const isDone = (now: Stage) => now.find("CronJob", "tick")?.status?.lastSuccessfulTime !== undefined;
    await stage.settle("done", (now) => isDone(now) && !now.find("CronJob", "tick").status.active);
  }),
  situation("cron job: in a time zone", async (stage) => {
    await stage.apply(cronJob("tick", { timeZone: "Asia/Tokyo" }));
    await makeDue(stage, "tick");
    await stage.settle("done", (now) => now.find("CronJob", "tick")?.status?.lastSuccessfulTime !== undefined);
  }),
  situation("cron job: its job fails", async (stage) => {
    const annotations = { "pods.binnacle.dev/exit-code": "1" };
    const { spec } = cronJob("tick", {}, annotations);
    spec.jobTemplate.spec.backoffLimit = 0;
    await stage.apply({ ...cronJob("tick"), spec });
    await makeDue(stage, "tick");
    const isSeen = (now: Stage) => !now.find("CronJob", "tick")?.status?.active;
    await stage.settle("failed", (now) => now.list("Job").length === 1 && isSeen(now));
  }),
  situation("cron job: suspended", async (stage) => {
    await stage.apply(cronJob("tick", { suspend: true }));
    await makeDue(stage, "tick");
    await stage.settle("nothing happens", () => true, { quiet: 1000 });
    await stage.patch("CronJob", "tick", { spec: { suspend: false } });
    await stage.settle("resumed", (now) => now.find("CronJob", "tick")?.status?.lastSuccessfulTime !== undefined);
  }),
  situation("cron job: too late to start", async (stage) => {
    await stage.apply(cronJob("tick", { startingDeadlineSeconds: 20 }));
    await makeDue(stage, "tick");
    await stage.settle("nothing happens", () => true, { quiet: 1000 });
  }),
  situation("cron job: too many missed", async (stage) => {
    await stage.apply(cronJob("tick", { schedule: "0 0 * * *" }));
    await makeDue(stage, "tick");
    await stage.settle("done", (now) => now.find("CronJob", "tick")?.status?.lastSuccessfulTime !== undefined);
  }),
  situation("cron job: overlap is allowed", async (stage) => {
    await overlap(stage, "Allow");
    const two = (now: Stage) => now.find("CronJob", "tick")?.status?.active?.length === 2;
    await stage.settle("two", two, { quiet: 1500 });
  }),
  situation("cron job: overlap is forbidden", async (stage) => {
    await overlap(stage, "Forbid");
    await stage.settle("one", (now) => now.happenings.some(({ object }) => object.reason === "JobAlreadyActive"), {
      quiet: 1000,
    });
  }),
  situation("cron job: overlap replaces", async (stage) => {
    await overlap(stage, "Replace");
    const one = (now: Stage) => now.find("Job", "earlier") === undefined && now.list("Pod").length === 1;
    await stage.settle("one", one, { quiet: 1500 });
  }),
  situation("cron job: keeps the last jobs only", async (stage) => {
    await stage.apply(cronJob("tick", { suspend: true, successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }));
    await stage.until("there", (now) => now.find("CronJob", "tick") !== undefined);
    for (const name of ["first", "second", "third"]) {
      await earlierJob(stage, name);
      await stage.until(
        "over",
        (now) => now.find("Job", name) === undefined || hasCondition("Job", name, "Complete")(now),
      );
    }
    await stage.settle("one is left", (now) => now.list("Job").length === 1 && now.list("Pod").length === 1);
  }),
  situation("cron job: an active job went missing", async (stage) => {
    await stage.apply(cronJob("tick", { suspend: true }));
    await stage.until("there", (now) => now.find("CronJob", "tick") !== undefined);
    const missing = { name: "lost", namespace: stage.namespace, uid: "00000000-0000-4000-8000-000000000000" };
    await stage.patch(
      "CronJob",
      "tick",
      { status: { active: [reference({ metadata: missing })] } },
      { subresource: "status" },
    );
    await stage.settle("noticed", (now) => !now.find("CronJob", "tick")?.status?.active);
  }),
  situation("cron job: deleted with its jobs", async (stage) => {
    await stage.apply(cronJob("tick", {}, never));
    await makeDue(stage, "tick");
    await stage.settle("running", (now) => now.list("Job")[0]?.status?.ready === 1);
    await stage.delete("CronJob", "tick");
    await stage.settle("gone", (now) => now.list("Job").length === 0 && now.list("Pod").length === 0);
  }),
];
