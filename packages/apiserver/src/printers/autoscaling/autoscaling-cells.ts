/** The table columns of autoscalers. */
import type { Fields, KubeObject } from "../../hooks.ts";
import { type Cell, at, get, list, name, sinceCreation, some } from "../cell.ts";

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
  const metrics = specs.map((spec, index) => metric(spec, list(object, "status.currentMetrics")[index] ?? {}));
  return some(metrics, { most: 2, between: ", " });
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

/** Formats the older version, which has one percentage instead of a list. */
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

export const autoscalingCells: Readonly<Record<string, readonly Cell[]>> = {
  "autoscaling/v1/HorizontalPodAutoscaler": scaler(percentage),
  "autoscaling/v2/HorizontalPodAutoscaler": scaler(metrics),
};
