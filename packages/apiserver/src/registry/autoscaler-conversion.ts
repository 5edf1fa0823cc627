/**
 * Converts HorizontalPodAutoscalers from and to autoscaling/v1, which knows only the CPU as a metric. Annotations carry
 * the other metrics, in types of their own, and the behaviour, with the names of Go's internal fields.
 */
import type { Fields, KubeObject } from "../hooks.ts";
import type { Conversion } from "./conversion.ts";

const metricsKey = "autoscaling.alpha.kubernetes.io/metrics";
const behaviorKey = "autoscaling.alpha.kubernetes.io/behavior";
const currentMetricsKey = "autoscaling.alpha.kubernetes.io/current-metrics";
const conditionsKey = "autoscaling.alpha.kubernetes.io/conditions";

type Autoscaler = KubeObject & { readonly spec?: Fields; readonly status?: Fields };

export const autoscalers: Conversion = {
  keep(object, before) {
    const { spec, status } = object as Autoscaler;
    const { behavior } = (before as Autoscaler).spec ?? {};
    const { conditions } = (before as Autoscaler).status ?? {};
    return {
      ...object,
      spec: { ...present("behavior", behavior), ...spec },
      ...(status === undefined ? {} : { status: { ...present("conditions", conditions), ...status } }),
    };
  },
  toStorage(object) {
    const { metadata, spec = {}, status } = object as Autoscaler;
    const { targetCPUUtilizationPercentage: cpu, ...rest } = spec;
    const {
      [metricsKey]: metrics,
      [behaviorKey]: behavior,
      [currentMetricsKey]: current,
      [conditionsKey]: conditions,
      ...annotations
    } = metadata.annotations ?? {};
    const all = parsedList(metrics).map((metric) => metricOf(metric, source));
    if (cpu !== undefined) {
      const target = { type: "Utilization", averageUtilization: cpu };
      all.push({ type: "Resource", resource: { name: "cpu", target } });
    }
    const rules = lowered(parsed(behavior), true) as Fields | undefined;
    return {
      kind: object.kind,
      apiVersion: "autoscaling/v2",
      metadata: withAnnotations(object, annotations),
      spec: {
        ...rest,
        ...(all.length === 0 ? {} : { metrics: all }),
        ...(rules === undefined ? {} : { behavior: rules }),
      },
      ...(status === undefined ? {} : { status: storedStatus(status, { current, conditions }) }),
    };
  },
  fromStorage(object) {
    const { metadata, spec = {}, status } = object as Autoscaler;
    const { metrics, behavior, ...rest } = spec as Fields & { metrics?: Fields[]; behavior?: Fields };
    const annotations: Record<string, string> = { ...metadata.annotations };
    let cpu: unknown;
    const others = (metrics ?? []).filter((metric) => {
      const utilization = cpuOf(metric, "target");
      cpu ??= utilization;
      return utilization === undefined;
    });
    if (others.length > 0)
      annotations[metricsKey] = JSON.stringify(others.map((metric) => shownMetric(metric, source)));
    if (behavior !== undefined) annotations[behaviorKey] = JSON.stringify(shownBehavior(behavior));
    const { currentMetrics, conditions, ...statusRest } = (status ?? {}) as Fields & {
      currentMetrics?: Fields[] | null;
      conditions?: Fields[];
    };
    if (currentMetrics?.length)
      annotations[currentMetricsKey] = JSON.stringify(currentMetrics.map((metric) => shownMetric(metric, current)));
    if (conditions?.length) annotations[conditionsKey] = JSON.stringify(conditions.map(shownCondition));
    const used = currentMetrics?.map((metric) => cpuOf(metric, "current")).find((value) => value !== undefined);
    return {
      kind: object.kind,
      apiVersion: "autoscaling/v1",
      metadata: withAnnotations(object, annotations),
      spec: { ...rest, ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu }) },
      ...(status === undefined
        ? {}
        : {
            status: {
              currentReplicas: 0,
              desiredReplicas: 0,
              ...statusRest,
              ...(used === undefined ? {} : { currentCPUUtilizationPercentage: used }),
            },
          }),
    };
  },
};

interface Carried {
  readonly current: string | undefined;
  readonly conditions: string | undefined;
}

function storedStatus(status: Fields, { current: metrics, conditions }: Carried): Fields {
  const { currentCPUUtilizationPercentage: cpu, currentReplicas, ...rest } = status;
  const used = { type: "Resource", resource: { name: "cpu", current: { averageUtilization: cpu } } };
  const carried = parsedList(metrics).map((metric) => metricOf(metric, current));
  const all = carried.length > 0 ? carried : cpu === undefined ? null : [used];
  return {
    ...rest,
    ...(currentReplicas === 0 || currentReplicas === undefined ? {} : { currentReplicas }),
    currentMetrics: all,
    ...(conditions === undefined ? {} : { conditions: parsed(conditions) }),
  };
}

function cpuOf(metric: Fields, field: "target" | "current"): unknown {
  const resource = metric["resource"] as { name?: string; target?: Fields; current?: Fields } | undefined;
  return metric["type"] === "Resource" && resource?.name === "cpu"
    ? resource[field]?.["averageUtilization"]
    : undefined;
}

/** The two versions' names for the target and the current value of a metric. */
interface Names {
  readonly field: "target" | "current";
  readonly value: string;
  readonly averageValue: string;
  readonly averageUtilization: string;
}

const source: Names = {
  field: "target",
  value: "targetValue",
  averageValue: "targetAverageValue",
  averageUtilization: "targetAverageUtilization",
};

const current: Names = {
  field: "current",
  value: "currentValue",
  averageValue: "currentAverageValue",
  averageUtilization: "currentAverageUtilization",
};

const sources = ["object", "pods", "resource", "containerResource", "external"] as const;

/** Converts a metric of v2 to the types of v1, with their order of fields. */
function shownMetric(metric: Fields, names: Names): Fields {
  const converted: Fields = { type: metric["type"] };
  for (const kind of sources) {
    const own = metric[kind] as Fields | undefined;
    if (own === undefined) continue;
    const { value, averageValue, averageUtilization } = (own[names.field] ?? {}) as Fields;
    const { name, selector } = (own["metric"] ?? {}) as Fields;
    const measured = names === current ? (averageValue ?? "0") : averageValue;
    converted[kind] =
      kind === "object"
        ? { target: own["describedObject"], metricName: name, [names.value]: value ?? "0", selector, averageValue }
        : kind === "pods"
          ? { metricName: name, [names.averageValue]: averageValue ?? "0", selector }
          : kind === "external"
            ? {
                metricName: name,
                metricSelector: selector,
                [names.value]: names === current ? (value ?? "0") : value,
                [names.averageValue]: averageValue,
              }
            : {
                name: own["name"],
                [names.averageUtilization]: averageUtilization,
                [names.averageValue]: measured,
                ...(kind === "containerResource" ? { container: own["container"] } : {}),
              };
  }
  return converted;
}

/** Converts a metric of v1 to the types of v2. */
function metricOf(metric: Fields, names: Names): Fields {
  const known: Fields = { type: metric["type"] };
  for (const kind of sources) {
    const own = metric[kind] as Fields | undefined;
    if (own === undefined) continue;
    const about =
      kind === "resource" || kind === "containerResource"
        ? { name: own["name"], ...(kind === "resource" ? {} : { container: own["container"] }) }
        : { metric: { name: own["metricName"], ...present("selector", own["selector"] ?? own["metricSelector"]) } };
    const averageValue = kind === "object" ? own["averageValue"] : own[names.averageValue];
    const averageUtilization = own[names.averageUtilization];
    const type =
      averageUtilization === undefined ? (averageValue === undefined ? "Value" : "AverageValue") : "Utilization";
    known[kind] = {
      ...about,
      ...(kind === "object" ? { describedObject: own["target"] } : {}),
      [names.field]: {
        ...(names === source ? { type } : {}),
        ...present("value", own[names.value]),
        ...present("averageValue", averageValue),
        ...present("averageUtilization", averageUtilization),
      },
    };
  }
  return known;
}

function present(name: string, value: unknown): Fields {
  return value === undefined || value === null ? {} : { [name]: value };
}

/** Returns all fields of Go's internal types, in their order. */
function shownBehavior({ scaleUp, scaleDown }: Fields): Fields {
  const rules = (rulesOf: unknown): Fields | null => {
    if (rulesOf === undefined || rulesOf === null) return null;
    const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance = null } = rulesOf as Fields;
    const policyList = (policies as Fields[] | undefined)?.map(({ type, value, periodSeconds }) => ({
      Type: type,
      Value: value,
      PeriodSeconds: periodSeconds,
    }));
    return {
      StabilizationWindowSeconds: stabilizationWindowSeconds,
      SelectPolicy: selectPolicy,
      Policies: policyList ?? null,
      Tolerance: tolerance,
    };
  };
  return { ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) };
}

function shownCondition({ type, status, lastTransitionTime = null, reason, message }: Fields): Fields {
  return { type, status, lastTransitionTime, ...present("reason", reason), ...present("message", message) };
}

/** Lower-cases names, because Go reads them in any case; null means absent. */
function lowered(value: unknown, isTop = false): unknown {
  if (Array.isArray(value)) return value.map((one) => lowered(one));
  if (typeof value !== "object" || value === null) return isTop ? undefined : value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([name, field]) => [name[0]!.toLowerCase() + name.slice(1), lowered(field)]));
}

function withAnnotations(object: KubeObject, annotations: Record<string, string>): KubeObject["metadata"] {
  const { annotations: _, ...metadata } = object.metadata;
  return Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function parsedList(text: string | undefined): Fields[] {
  const value = parsed(text);
  return Array.isArray(value) ? (value as Fields[]) : [];
}
