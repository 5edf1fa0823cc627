/** LimitRanger. @see https://kubernetes.io/docs/concepts/policy/limit-range/ */
import type { AdmissionAttributes, Fields } from "../hooks.ts";
import { formatQuantity, type Quantity } from "../schema/quantity.ts";
import { each, inner } from "../validation/fill.ts";
import { aggregated, type Plugin, refusal } from "./plugin.ts";
import { podResources } from "./pod-resources.ts";
import { resourceList, type ResourceList, zero } from "./resource-list.ts";

export const limitRanger: Plugin = {
  name: "LimitRanger",
  resources: ["/pods", "/persistentvolumeclaims"],
  mutate(attributes) {
    if (!isLimited(attributes) || attributes.context.row.kind !== "Pod") return;
    for (const limits of rangesOf(attributes)) setDefaults(attributes.object!, limits);
  },
  validate(attributes) {
    if (!isLimited(attributes)) return;
    const spec = inner(attributes.object!, "spec");
    const check = attributes.context.row.kind === "Pod" ? podProblems : claimProblems;
    for (const limits of rangesOf(attributes)) {
      const problems = check(spec, limits);
      if (problems.length > 0) throw refusal(attributes, aggregated(problems));
    }
  },
};

function isLimited({ context, object, oldObject }: AdmissionAttributes): boolean {
  const { operation, subresource, row } = context;
  if (object === undefined || oldObject?.metadata.deletionTimestamp !== undefined) return false;
  if (row.kind === "Pod" && operation === "UPDATE") return subresource === "resize";
  return subresource === "" && (operation === "CREATE" || operation === "UPDATE");
}

function rangesOf({ context }: AdmissionAttributes): Fields[][] {
  const ranges = context.reader.list({ group: "", plural: "limitranges" }, context.namespace);
  return ranges.map((range) => each(inner(range, "spec"), "limits"));
}

const annotation = "kubernetes.io/limit-ranger";

function setDefaults(pod: NonNullable<AdmissionAttributes["object"]>, limits: readonly Fields[]): void {
  const requests: Fields = {};
  const maximums: Fields = {};
  for (const limit of limits) {
    if (limit["type"] !== "Container") continue;
    Object.assign(requests, limit["defaultRequest"]);
    Object.assign(maximums, limit["default"]);
  }
  const messages: string[] = [];
  const spec = inner(pod, "spec");
  for (const [kind, list] of [
    ["container", "containers"],
    ["init container", "initContainers"],
  ] as const) {
    for (const container of each(spec, list)) {
      for (const [what, field, values] of [
        ["request", "requests", requests],
        ["limit", "limits", maximums],
      ] as const) {
        const added = addAbsent(container, field, values);
        if (added.length > 0)
          messages.push(`${added.toSorted().join(", ")} ${what} for ${kind} ${String(container["name"])}`);
      }
    }
  }
  if (messages.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [annotation]: `LimitRanger plugin set: ${messages.join("; ")}`,
  };
}

/** Adds fields that are absent. @returns the names that were added */
function addAbsent(container: Fields, field: string, values: Fields): string[] {
  const resources = inner(container, "resources");
  const known = inner(resources, field);
  const added = Object.keys(values).filter((name) => known[name] === undefined);
  if (added.length === 0) return added;
  container["resources"] = { ...resources, [field]: { ...values, ...known } };
  return added;
}

interface Used {
  readonly type: string;
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

function podProblems(spec: Fields, limits: readonly Fields[]): string[] {
  return limits.flatMap((limit) => {
    const type = String(limit["type"]);
    if (type === "Container") {
      return [...each(spec, "containers"), ...each(spec, "initContainers")].flatMap((container) => {
        const resources = inner(container, "resources");
        const used = {
          type,
          requests: resourceList(resources["requests"]),
          limits: resourceList(resources["limits"]),
        };
        return rangeProblems(limit, used);
      });
    }
    if (type !== "Pod") return [];
    return rangeProblems(limit, {
      type,
      requests: podResources(spec, "requests"),
      limits: podResources(spec, "limits"),
    });
  });
}

function rangeProblems(limit: Fields, used: Used): string[] {
  return [
    ...[...resourceList(limit["min"])].map(([name, enforced]) => belowMinimum(name, enforced, used)),
    ...[...resourceList(limit["max"])].map(([name, enforced]) => aboveMaximum(name, enforced, used)),
    ...[...resourceList(limit["maxLimitRequestRatio"])].map(([name, enforced]) => aboveRatio(name, enforced, used)),
  ].filter((problem) => problem !== undefined);
}

function claimProblems(spec: Fields, limits: readonly Fields[]): string[] {
  const type = "PersistentVolumeClaim";
  const used: Used = { type, requests: resourceList(inner(spec, "resources")["requests"]), limits: new Map() };
  return limits
    .filter((limit) => limit["type"] === type)
    .flatMap((limit) => [
      ...[...resourceList(limit["min"])].map(([name, enforced]) => belowMinimum(name, enforced, used)),
      ...[...resourceList(limit["max"])].map(([name, enforced]) => aboveRequest(name, enforced, used)),
    ])
    .filter((problem) => problem !== undefined);
}

function belowMinimum(name: string, enforced: Quantity, { type, requests, limits }: Used): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (request.nanos < enforced.nanos) return `${rule}, but request is ${formatQuantity(request)}`;
  if (limit !== undefined && limit.nanos < enforced.nanos) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function aboveMaximum(name: string, enforced: Quantity, { type, requests, limits }: Used): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (limit.nanos > enforced.nanos) return `${rule}, but limit is ${formatQuantity(limit)}`;
  if (request !== undefined && request.nanos > enforced.nanos)
    return `${rule}, but request is ${formatQuantity(request)}`;
  return undefined;
}

function aboveRequest(name: string, enforced: Quantity, { type, requests }: Used): string | undefined {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  return request.nanos > enforced.nanos ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
}

function aboveRatio(name: string, enforced: Quantity, { type, requests, limits }: Used): string | undefined {
  const [request = zero, limit = zero] = [requests.get(name), limits.get(name)];
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(enforced)}`;
  if (request.nanos === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limit.nanos === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(limit.nanos) / Number(request.nanos);
  return ratio > Number(enforced.nanos) / 1e9 ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
