/** How what makes pods is shown. */
import type { Fields, KubeObject } from "../hooks.ts";
import { age, humanDuration } from "./age.ts";
import { at, type Cell, containers, count, get, labels, list, name, selector, sinceCreation, some } from "./cell.ts";

const template = containers("spec.template.spec");

function ready(object: KubeObject): string {
  return `${String(get(object, "status.readyReplicas") ?? 0)}/${String(get(object, "spec.replicas") ?? 0)}`;
}

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

function target(object: KubeObject): string {
  return `${String(get(object, "spec.scaleTargetRef.kind") ?? "")}/${String(get(object, "spec.scaleTargetRef.name") ?? "")}`;
}

const sourceNames: Readonly<Record<string, string>> = {
  Resource: "resource",
  ContainerResource: "containerResource",
  Pods: "pods",
  Object: "object",
  External: "external",
};

function metrics(object: KubeObject): string {
  const specs = list(object, "spec.metrics");
  if (specs.length === 0) return "<none>";
  const shown = specs.map((spec, index) => metric(spec, list(object, "status.currentMetrics")[index] ?? {}));
  return some(shown, { most: 2, between: ", " });
}

function metric(spec: Fields, status: Fields): string {
  const source = sourceNames[String(spec["type"])];
  if (source === undefined) return "<unknown type>";
  const goal = (get(spec, `${source}.target`) ?? {}) as Fields;
  const current = (get(status, `${source}.current`) ?? {}) as Fields;
  const value = (field: string): string => String(current[field] ?? "<unknown>");
  if (source === "pods") return `${value("averageValue")}/${String(goal["averageValue"] ?? "0")}`;
  if (source === "object" || source === "external") {
    if (goal["averageValue"] !== undefined) return `${value("averageValue")}/${String(goal["averageValue"])} (avg)`;
    return `${value("value")}/${String(goal["value"] ?? "0")}`;
  }
  const prefix = `${String(get(spec, `${source}.name`) ?? "")}: `;
  if (goal["averageValue"] !== undefined) return `${prefix}${value("averageValue")}/${String(goal["averageValue"])}`;
  const percent = (number: unknown, absent: string): string => (number === undefined ? absent : `${String(number)}%`);
  return `${prefix}${percent(current["averageUtilization"], "<unknown>")}/${percent(goal["averageUtilization"], "<auto>")}`;
}

/** The older version keeps one percentage instead of a list. */
function percentage(object: KubeObject): string {
  const goal = get(object, "spec.targetCPUUtilizationPercentage");
  if (goal === undefined || goal === null) return get(object, "spec.metrics") ? metrics(object) : "<none>";
  const current = get(object, "status.currentCPUUtilizationPercentage");
  return `cpu: ${current === undefined ? "<unknown>" : `${String(current)}%`}/${String(goal)}%`;
}

function scaler(targets: Cell): readonly Cell[] {
  const least: Cell = (object) => String(get(object, "spec.minReplicas") ?? "<unset>");
  return [name, target, targets, least, at("spec.maxReplicas", 0), at("status.currentReplicas", 0), sinceCreation];
}

function scaled(selectorCell: Cell): readonly Cell[] {
  const counts = [at("spec.replicas", 0), at("status.replicas", 0), at("status.readyReplicas", 0)];
  return [name, ...counts, sinceCreation, ...template, selectorCell];
}

function bounds(path: string): Cell {
  return (object) => String(get(object, path) ?? "N/A");
}

export const workloadCells: Readonly<Record<string, readonly Cell[]>> = {
  "apps/ControllerRevision": [name, owner, at("revision", 0), sinceCreation],
  "apps/DaemonSet": [
    name,
    at("status.desiredNumberScheduled", 0),
    at("status.currentNumberScheduled", 0),
    at("status.numberReady", 0),
    at("status.updatedNumberScheduled", 0),
    at("status.numberAvailable", 0),
    labels("spec.template.spec.nodeSelector"),
    sinceCreation,
    ...template,
    selector("spec.selector"),
  ],
  "apps/Deployment": [
    name,
    ready,
    at("status.updatedReplicas", 0),
    at("status.availableReplicas", 0),
    sinceCreation,
    ...template,
    (deployment) => (get(deployment, "spec.selector") ? selector("spec.selector")(deployment, 0) : ""),
  ],
  "apps/ReplicaSet": scaled(selector("spec.selector")),
  "apps/StatefulSet": [name, ready, sinceCreation, ...template],
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
  "autoscaling/v1/HorizontalPodAutoscaler": scaler(percentage),
  "autoscaling/v2/HorizontalPodAutoscaler": scaler(metrics),
  "policy/PodDisruptionBudget": [
    name,
    bounds("spec.minAvailable"),
    bounds("spec.maxUnavailable"),
    at("status.disruptionsAllowed", 0),
    sinceCreation,
  ],
  "scheduling.k8s.io/PriorityClass": [
    name,
    at("value", 0),
    at("globalDefault", false),
    sinceCreation,
    at("preemptionPolicy"),
  ],
  "coordination.k8s.io/Lease": [name, at("spec.holderIdentity"), sinceCreation],
  "node.k8s.io/RuntimeClass": [name, at("handler"), sinceCreation],
};

function owner({ metadata }: KubeObject): string {
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller === undefined) return "<none>";
  const [group] = controller.apiVersion.includes("/") ? controller.apiVersion.split("/") : [""];
  return `${controller.kind.toLowerCase()}${group ? `.${group}` : ""}/${controller.name}`;
}
