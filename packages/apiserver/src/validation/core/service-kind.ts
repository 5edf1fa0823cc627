/** Prepares and validates services. @see https://kubernetes.io/docs/concepts/services-networking/service/ */
import { deepEquals } from "#platform/equality";
import type { Fields } from "../../hooks.ts";
import { each, inner } from "../fill.ts";
import type { Rules } from "../rules.ts";
import { allocate, needsHealthPort, needsPorts } from "./service-allocation.ts";
import { serviceCheck, serviceStatus, serviceUpdate } from "./service-rules.ts";

export const service: Rules = {
  prepare: (object, context) => allocate(object, undefined, context),
  prepareUpdate: (next, old, context) => {
    if (context.subresource !== "") return;
    if (inner(next, "spec")["type"] !== "LoadBalancer") inner(next, "status")["loadBalancer"] = {};
    keepAllocated(inner(next, "spec"), inner(old, "spec"));
    allocate(next, old, context);
  },
  check: serviceCheck,
  update: serviceUpdate,
  updateFirst: true,
  status: serviceStatus,
  selectable: {
    "spec.clusterIP": (object) => String(inner(object, "spec")["clusterIP"] ?? ""),
    "spec.type": (object) => String(inner(object, "spec")["type"] ?? ""),
  },
};

/** Keeps allocated values unless the new type does not use them. */
function keepAllocated(next: Fields, old: Fields): void {
  if (old["type"] === "ExternalName") return;
  if (next["clusterIP"] !== old["clusterIP"] && deepEquals(next["clusterIPs"], old["clusterIPs"])) {
    next["clusterIPs"] = next["clusterIP"] ? [next["clusterIP"]] : [];
  }
  if (next["clusterIP"] && !(next["clusterIPs"] as unknown[] | undefined)?.length)
    next["clusterIPs"] = [next["clusterIP"]];
  const allocated = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
  for (const name of allocated) {
    const isEmpty =
      next[name] === undefined || next[name] === "" || (Array.isArray(next[name]) && next[name].length === 0);
    if (next["type"] !== "ExternalName") {
      if (isEmpty) next[name] = structuredClone(old[name]);
    } else if (isEmpty || deepEquals(next[name], old[name])) delete next[name];
  }
  const samePort = (one: Fields): Fields | undefined =>
    each(old, "ports").find((earlier) => earlier["port"] === one["port"] && earlier["protocol"] === one["protocol"]);
  if (needsPorts(next)) keepNodePorts(each(next, "ports"), each(old, "ports"));
  else {
    for (const one of each(next, "ports")) if (one["nodePort"] === samePort(one)?.["nodePort"]) delete one["nodePort"];
  }
  const isSame = (name: string): boolean => next[name] === old[name];
  if (needsHealthPort(old)) {
    if (needsHealthPort(next)) next["healthCheckNodePort"] ||= old["healthCheckNodePort"];
    else if (isSame("healthCheckNodePort")) delete next["healthCheckNodePort"];
  }
  if (old["type"] === "LoadBalancer" && next["type"] !== "LoadBalancer" && isSame("loadBalancerClass"))
    delete next["loadBalancerClass"];
  if (old["type"] === "LoadBalancer" && next["type"] !== "LoadBalancer" && isSame("allocateLoadBalancerNodePorts"))
    delete next["allocateLoadBalancerNodePorts"];
  if (isOutside(old) && !isOutside(next) && isSame("externalTrafficPolicy")) delete next["externalTrafficPolicy"];
}

/**
 * Gives a port without a node port the node port of the earlier port with the same name, unless another port uses it
 * now.
 */
function keepNodePorts(next: readonly Fields[], old: readonly Fields[]): void {
  const byName = new Map(old.map(({ name = "", nodePort }) => [name, nodePort]));
  const nodePorts = new Set(next.map(({ nodePort }) => nodePort));
  for (const one of next) {
    const before = byName.get(one["name"] ?? "");
    if (!one["nodePort"] && before && !nodePorts.has(before)) one["nodePort"] = before;
  }
}

/** Whether the service is reachable from outside of the cluster. */
function isOutside(spec: Fields): boolean {
  const { type } = spec;
  return (
    type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && each(spec, "externalIPs").length > 0)
  );
}
