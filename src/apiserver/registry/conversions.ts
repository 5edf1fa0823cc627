/** Built-in kinds that are served in more than one group or version, and how one form becomes the other. */
import type { Fields, KindRow, KubeObject } from "../hooks.ts";

export interface Conversion {
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
}

/** The group under which the objects of a row are kept: events of both groups are the same objects. */
export function storageGroup(row: KindRow): string {
  return row.group === "events.k8s.io" && row.plural === "events" ? "" : row.group;
}

/** `undefined` where the row's own form is what is stored. */
export function conversionOf(row: KindRow): Conversion | undefined {
  if (row.group === "events.k8s.io" && row.kind === "Event") return events;
  if (row.group === "autoscaling" && row.version === "v1" && row.kind === "HorizontalPodAutoscaler") return autoscalers;
  return undefined;
}

/** The two names that a field of an event has. */
const eventFields: readonly (readonly [inCore: string, inEvents: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["source", "deprecatedSource"],
];

const events: Conversion = {
  toStorage: (object) => renamed(object, { from: 1, to: 0, apiVersion: "v1" }),
  fromStorage: (object) => renamed(object, { from: 0, to: 1, apiVersion: "events.k8s.io/v1" }),
};

function renamed(
  object: KubeObject,
  { from, to, apiVersion }: { readonly from: 0 | 1; readonly to: 0 | 1; readonly apiVersion: string },
): KubeObject {
  const result: Fields = {};
  for (const [name, value] of Object.entries(object)) {
    const pair = eventFields.find((names) => names[from] === name);
    result[pair === undefined ? name : pair[to]] = value;
  }
  // The core group always names a controller.
  if (to === 1)
    for (const name of ["reportingController", "reportingInstance"]) if (result[name] === "") delete result[name];
  return { ...result, kind: object.kind, apiVersion, metadata: object.metadata };
}

const metricsKey = "autoscaling.alpha.kubernetes.io/metrics";
const behaviorKey = "autoscaling.alpha.kubernetes.io/behavior";
const currentMetricsKey = "autoscaling.alpha.kubernetes.io/current-metrics";
const conditionsKey = "autoscaling.alpha.kubernetes.io/conditions";

/** v1 knows one metric, the CPU; the rest it carries in annotations. */
const autoscalers: Conversion = {
  toStorage(object) {
    const { metadata, spec = {}, status } = object as KubeObject & { spec?: Fields; status?: Fields };
    const { targetCPUUtilizationPercentage: cpu, ...rest } = spec;
    const { [metricsKey]: metrics, [behaviorKey]: behavior, ...annotations } = metadata.annotations ?? {};
    const all = [...(metrics === undefined ? [] : parsedList(metrics))];
    if (cpu !== undefined) {
      const target = { type: "Utilization", averageUtilization: cpu };
      all.push({ type: "Resource", resource: { name: "cpu", target } });
    }
    const { [currentMetricsKey]: current, [conditionsKey]: conditions, ...others } = annotations;
    return {
      kind: object.kind,
      apiVersion: "autoscaling/v2",
      metadata: withAnnotations(object, others),
      spec: {
        ...rest,
        ...(all.length === 0 ? {} : { metrics: all }),
        ...(behavior === undefined ? {} : { behavior: parsed(behavior) }),
      },
      ...(status === undefined ? {} : { status: statusToStorage(status, { current, conditions }) }),
    };
  },
  fromStorage(object) {
    const { metadata, spec = {}, status } = object as KubeObject & { spec?: Fields; status?: Fields };
    const { metrics, behavior, ...rest } = spec as Fields & { metrics?: Fields[]; behavior?: Fields };
    const annotations: Record<string, string> = { ...metadata.annotations };
    let cpu: unknown;
    const others = (metrics ?? []).filter((metric) => {
      const resource = metric["resource"] as { name?: string; target?: Fields } | undefined;
      const utilization = resource?.target?.["averageUtilization"];
      if (metric["type"] !== "Resource" || resource?.name !== "cpu" || utilization === undefined) return true;
      cpu = utilization;
      return false;
    });
    if (others.length > 0) annotations[metricsKey] = JSON.stringify(others);
    if (behavior !== undefined) annotations[behaviorKey] = JSON.stringify(behavior);
    const { currentMetrics, conditions, ...statusRest } = status ?? {};
    if (currentMetrics !== undefined && currentMetrics !== null)
      annotations[currentMetricsKey] = JSON.stringify(currentMetrics);
    if (conditions !== undefined) annotations[conditionsKey] = JSON.stringify(conditions);
    return {
      kind: object.kind,
      apiVersion: "autoscaling/v1",
      metadata: withAnnotations(object, annotations),
      spec: { ...rest, ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu }) },
      ...(status === undefined ? {} : { status: { currentReplicas: 0, desiredReplicas: 0, ...statusRest } }),
    };
  },
};

function statusToStorage(
  status: Fields,
  { current, conditions }: { readonly current: string | undefined; readonly conditions: string | undefined },
): Fields {
  const { currentCPUUtilizationPercentage: _, ...rest } = status;
  return {
    ...rest,
    currentMetrics: current === undefined ? null : parsed(current),
    ...(conditions === undefined ? {} : { conditions: parsed(conditions) }),
  };
}

function withAnnotations(object: KubeObject, annotations: Record<string, string>): KubeObject["metadata"] {
  const { annotations: _, ...metadata } = object.metadata;
  return Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parsedList(text: string): unknown[] {
  const value = parsed(text);
  return Array.isArray(value) ? value : [];
}
