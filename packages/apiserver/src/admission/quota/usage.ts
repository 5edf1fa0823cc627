/** Computes how much of a quota objects use. @see https://kubernetes.io/docs/concepts/policy/resource-quotas/ */
import type { AdmissionAttributes, Fields, KindRow, KubeObject } from "../../hooks.ts";
import { each, inner } from "../../validation/fill.ts";
import { podResources } from "../pod-resources.ts";
import { add, count, raise, type ResourceList, resourceList, zero } from "../resource-list.ts";
import { classOf } from "../storage-rules.ts";
import { podScope, type Requirement } from "./scopes.ts";
import type { Quantity } from "../../schema/quantity.ts";

/** Counts the objects of one kind. */
export interface Evaluator {
  /** Whether a write may change the usage. */
  handles(attributes: AdmissionAttributes): boolean;
  /** Whether a resource name in a quota refers to these objects. */
  counts(name: string): boolean;
  usage(object: KubeObject, now: number): ResourceList;
  matches?(requirement: Requirement, object: KubeObject): boolean;
  /** Returns the names of resources that the quota limits but the object does not specify. */
  missing?(names: readonly string[], object: KubeObject): string | undefined;
}

const aliases: ReadonlySet<string> = new Set(["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]);

export function evaluatorOf(row: Pick<KindRow, "group" | "plural">): Evaluator {
  if (row.group === "" && row.plural === "pods") return pods;
  if (row.group === "" && row.plural === "services") return services;
  if (row.group === "" && row.plural === "persistentvolumeclaims") return claims;
  if (row.group === "resource.k8s.io" && row.plural === "resourceclaims") return deviceClaims;
  const names = [`count/${row.plural}${row.group === "" ? "" : `.${row.group}`}`];
  if (row.group === "" && aliases.has(row.plural)) names.push(row.plural);
  return {
    handles: ({ context }) => context.subresource === "" && context.operation === "CREATE",
    counts: (name) => names.includes(name),
    usage: () => new Map(names.map((name) => [name, count(1)])),
  };
}

const podNames = new Set([
  "count/pods",
  "pods",
  ...["cpu", "memory", "ephemeral-storage"].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** Resources that every container must specify when a quota limits them. */
const obligatory = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

const pods: Evaluator = {
  handles: ({ context, object, oldObject }) => {
    if (context.subresource === "resize") return context.operation === "UPDATE";
    if (context.subresource !== "") return false;
    if (context.operation === "CREATE") return true;
    const terminating = (pod: KubeObject | undefined): boolean =>
      pod !== undefined && podScope({ scopeName: "Terminating", operator: "Exists" }, pod);
    return context.operation === "UPDATE" && terminating(object) !== terminating(oldObject);
  },
  counts: (name) =>
    podNames.has(name) ||
    /^(requests\.)?hugepages-/.test(name) ||
    (name.startsWith("requests.") &&
      (isExtended(name) || name.startsWith("requests.deviceclass.resource.kubernetes.io/"))),
  usage(pod, now) {
    const used: ResourceList = new Map([["count/pods", count(1)]]);
    if (!isAlive(pod, now)) return used;
    const spec = inner(pod, "spec");
    const requests = podResources(spec, "requests", { overhead: true });
    return add(used, computed(requests, podResources(spec, "limits", { overhead: true })));
  },
  matches: podScope,
  missing(names, pod) {
    const spec = inner(pod, "spec");
    if (Object.keys(inner(spec, "resources")).length > 0) return undefined;
    const needed = names.filter((name) => obligatory.includes(name)).toSorted();
    const lacking = new Map<string, Set<string>>();
    for (const container of [...each(spec, "containers"), ...each(spec, "initContainers")]) {
      const resources = inner(container, "resources");
      const list = computed(resourceList(resources["requests"]), resourceList(resources["limits"]));
      for (const name of needed) {
        if (list.has(name)) continue;
        lacking.set(name, (lacking.get(name) ?? new Set()).add(String(container["name"])));
      }
    }
    if (lacking.size === 0) return undefined;
    const texts = [...lacking].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return `must specify ${texts.map(([name, who]) => `${name} for: ${[...who].toSorted().join(",")}`).join("; ")}`;
  },
};

/** Whether the name is not one of Kubernetes' own, such as `requests.nvidia.com/gpu`. */
function isExtended(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/");
}

function isAlive({ metadata, ...pod }: KubeObject, now: number): boolean {
  const phase = inner(pod, "status")["phase"];
  if (phase === "Failed" || phase === "Succeeded") return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true;
  return now <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function computed(requests: ResourceList, limits: ResourceList): ResourceList {
  const used: ResourceList = new Map([["pods", count(1)]]);
  for (const name of ["cpu", "memory", "ephemeral-storage"]) {
    const [request, limit] = [requests.get(name), limits.get(name)];
    if (request !== undefined) used.set(name, request).set(`requests.${name}`, request);
    if (limit !== undefined) used.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith("hugepages-")) used.set(name, request).set(`requests.${name}`, request);
    else if (isExtended(name)) used.set(`requests.${name}`, request);
  }
  return used;
}

const serviceNames = new Set(["count/services", "services", "services.nodeports", "services.loadbalancers"]);

const services: Evaluator = {
  handles: ({ context }) =>
    context.subresource === "" && (context.operation === "CREATE" || context.operation === "UPDATE"),
  counts: (name) => serviceNames.has(name),
  usage(service) {
    const spec = inner(service, "spec");
    const ports = each(spec, "ports");
    const used: ResourceList = new Map([
      ["count/services", count(1)],
      ["services", count(1)],
      ["services.loadbalancers", zero],
      ["services.nodeports", zero],
    ]);
    const { type } = spec;
    if (type === "NodePort") used.set("services.nodeports", count(ports.length));
    if (type === "LoadBalancer") {
      const counted =
        spec["allocateLoadBalancerNodePorts"] === false ? ports.filter((port) => port["nodePort"]) : ports;
      used.set("services.nodeports", count(counted.length)).set("services.loadbalancers", count(1));
    }
    return used;
  },
};

const ofClass = ".storageclass.storage.k8s.io/";

const claims: Evaluator = {
  handles: ({ context }) =>
    context.subresource === "" && (context.operation === "CREATE" || context.operation === "UPDATE"),
  counts: (name) =>
    name === "count/persistentvolumeclaims" ||
    ["persistentvolumeclaims", "requests.storage"].some((one) => name === one || name.endsWith(`${ofClass}${one}`)),
  usage(claim) {
    const storageClass = classOf(claim);
    const used: ResourceList = new Map([
      ["persistentvolumeclaims", count(1)],
      ["count/persistentvolumeclaims", count(1)],
    ]);
    if (storageClass !== "") used.set(`${storageClass}${ofClass}persistentvolumeclaims`, count(1));
    const storage = wholeOf(requested(claim));
    if (storage === undefined) return used;
    used.set("requests.storage", storage);
    if (storageClass !== "") used.set(`${storageClass}${ofClass}requests.storage`, storage);
    return used;
  },
  matches({ scopeName, operator, values = [] }, claim) {
    if (scopeName !== "VolumeAttributesClass") return false;
    const status = inner(claim, "status");
    const names = [
      inner(claim, "spec")["volumeAttributesClassName"],
      status["currentVolumeAttributesClassName"],
      inner(status, "modifyVolumeStatus")["targetVolumeAttributesClassName"],
    ].filter((name): name is string => typeof name === "string" && name !== "");
    if (operator === "Exists") return names.length > 0;
    if (operator === "DoesNotExist") return names.length === 0;
    if (operator === "In") return names.some((name) => values.includes(name));
    return names.length === 0 || names.some((name) => !values.includes(name));
  },
};

const ofDeviceClass = ".deviceclass.resource.k8s.io/devices";

/** The number of devices that a request for all matching ones counts as, because no claim gets more. */
const MOST_DEVICES = 32;

const deviceClaims: Evaluator = {
  handles: ({ context }) =>
    context.subresource === "" && (context.operation === "CREATE" || context.operation === "UPDATE"),
  counts: (name) => name === "count/resourceclaims.resource.k8s.io" || name.endsWith(ofDeviceClass),
  usage(claim) {
    const used: ResourceList = new Map([["count/resourceclaims.resource.k8s.io", count(1)]]);
    for (const request of each(inner(inner(claim, "spec"), "devices"), "requests")) {
      const choice = each(request, "firstAvailable");
      // Only one of several alternative requests is served, so each class counts the most that any of them asks of it.
      const most: ResourceList = new Map();
      for (const one of choice.length > 0 ? choice : [inner(request, "exactly")]) raise(most, devicesOf(one));
      add(used, most);
    }
    return used;
  },
};

function devicesOf(request: Fields): ResourceList {
  const { deviceClassName, allocationMode, count: number } = request;
  if (typeof deviceClassName !== "string") return new Map();
  const devices = allocationMode === "All" ? MOST_DEVICES : allocationMode === "ExactCount" ? Number(number ?? 0) : 0;
  return new Map([[`${deviceClassName}${ofDeviceClass}`, count(devices)]]);
}

function requested(claim: KubeObject): ReturnType<ResourceList["get"]> {
  const list = resourceList(inner(inner(claim, "spec"), "resources")["requests"]);
  const storage = list.get("storage");
  const allocated = resourceList(inner(claim, "status")["allocatedResources"]).get("storage");
  return storage !== undefined && allocated !== undefined && allocated.nanos > storage.nanos ? allocated : storage;
}

const billion = 1_000_000_000n;

/** Rounds a quantity up to a whole number. */
function wholeOf(quantity: Quantity | undefined): Quantity | undefined {
  if (quantity === undefined || quantity.nanos % billion === 0n) return quantity;
  return { ...quantity, nanos: (quantity.nanos / billion + 1n) * billion };
}
