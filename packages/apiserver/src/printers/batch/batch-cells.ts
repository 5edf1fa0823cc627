/** The table columns of kinds of the batch group. */
import type { KubeObject } from "../../hooks.ts";
import { age, humanDuration } from "../age.ts";
import { type Cell, at, containers, count, get, list, name, selector, sinceCreation } from "../cell.ts";

const template = containers("spec.template.spec");

function jobStatus(job: KubeObject): string {
  const holds = (type: string): boolean =>
    list(job, "status.conditions").some((one) => one["type"] === type && one["status"] === "True");
  if (holds("Complete")) return "Complete";
  if (holds("Failed")) return "Failed";
  if (job.metadata.deletionTimestamp) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(holds) ?? "Running";
}

function completions(job: KubeObject): string {
  const succeeded = String(get(job, "status.succeeded") ?? 0);
  const wanted = get(job, "spec.completions");
  if (wanted !== undefined && wanted !== null) return `${succeeded}/${String(wanted)}`;
  const parallelism = Number(get(job, "spec.parallelism") ?? 0);
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: KubeObject, now: number): string {
  const [start, end] = [get(job, "status.startTime"), get(job, "status.completionTime")];
  if (typeof start !== "string") return "";
  return humanDuration((typeof end === "string" ? Date.parse(end) : now) - Date.parse(start));
}

export const batchCells: Readonly<Record<string, readonly Cell[]>> = {
  "batch/CronJob": [
    name,
    at("spec.schedule"),
    at("spec.timeZone", "<none>"),
    (job) => ({ true: "True", false: "False" })[String(get(job, "spec.suspend"))] ?? "<unset>",
    count("status.active"),
    (job, now) => {
      const last = get(job, "status.lastScheduleTime");
      return last ? age(last, now) : "<none>";
    },
    sinceCreation,
    ...containers("spec.jobTemplate.spec.template.spec"),
    selector("spec.jobTemplate.spec.selector"),
  ],
  "batch/Job": [name, jobStatus, completions, jobDuration, sinceCreation, ...template, selector("spec.selector")],
};
