/**
 * Sums up the requests and limits of a pod. @see
 * https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
 */
import type { Fields } from "../hooks.ts";
import { each, inner } from "../validation/fill.ts";
import { add, raise, resourceList, type ResourceList } from "./resource-list.ts";

/** Whether a resource may be set for a pod as a whole. */
export function isOfPods(name: string): boolean {
  return /^(cpu|memory|hugepages-.*)$/.test(name);
}

export interface PodResourceOptions {
  /** Whether the overhead of the pod's runtime counts too. @default false */
  readonly overhead?: boolean;
}

/** Sums up the most that the containers ask for at the same time. */
export function containerResources(spec: Fields, which: "requests" | "limits"): ResourceList {
  const of = (container: Fields): ResourceList => resourceList(inner(container, "resources")[which]);
  const total: ResourceList = new Map();
  for (const container of each(spec, "containers")) add(total, of(container));
  const sidecars: ResourceList = new Map();
  const starting: ResourceList = new Map();
  for (const container of each(spec, "initContainers")) {
    if (container["restartPolicy"] === "Always") {
      add(total, of(container));
      raise(starting, add(sidecars, of(container)));
    } else raise(starting, add(of(container), sidecars));
  }
  return raise(total, starting);
}

export function podResources(
  spec: Fields,
  which: "requests" | "limits",
  { overhead = false }: PodResourceOptions = {},
): ResourceList {
  const total = containerResources(spec, which);
  for (const [name, quantity] of resourceList(inner(spec, "resources")[which])) {
    if (isOfPods(name)) total.set(name, quantity);
  }
  if (!overhead) return total;
  const taken = resourceList(spec["overhead"]);
  // A resource without a limit does not get one from the overhead.
  if (which === "limits") for (const name of taken.keys()) if (!total.has(name)) taken.delete(name);
  return add(total, taken);
}
