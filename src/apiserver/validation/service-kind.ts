/** Services: their addresses and ports, and the rules of them. @see https://kubernetes.io/docs/concepts/services-networking/service/ */
import { isIP } from "node:net";
import type { Fields, WriteContext } from "../hooks.ts";
import { each, fillAbsent, inner } from "./fill.ts";
import type { Rules } from "./rules.ts";
import { allocationCheck } from "./service-allocation.ts";
import { serviceCheck, serviceStatus, serviceTypes, serviceUpdate } from "./service-rules.ts";

const [firstNodePort, lastNodePort] = [30000, 32767];

/** The range of addresses as the real server is started with it: 10.96.0.0/16. */
const prefix = "10.96";
/** Nothing is allocated on a dry run. */
const triedAddress = `${prefix}.0.0`;

export const service: Rules = {
  prepare: (object, context) => allocate(inner(object, "spec"), context),
  prepareUpdate: (next, old, context) => {
    if (context.subresource !== "") return;
    keepAllocated(inner(next, "spec"), inner(old, "spec"));
    allocate(inner(next, "spec"), context);
  },
  check: (object, context) => {
    serviceCheck(object, context);
    if (object.errors.length === 0) allocationCheck(object, context);
  },
  update: serviceUpdate,
  updateFirst: true,
  status: serviceStatus,
  selectable: {
    "spec.clusterIP": (object) => String(inner(object, "spec")["clusterIP"] ?? ""),
    "spec.type": (object) => String(inner(object, "spec")["type"] ?? ""),
  },
};

function needsPorts(spec: Fields): boolean {
  return (
    spec["type"] === "NodePort" || (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false)
  );
}

function allocate(spec: Fields, { reader, dryRun }: WriteContext): void {
  if (!serviceTypes.includes(String(spec["type"]))) return;
  if (spec["type"] === "ExternalName") return;
  const others = reader.list({ group: "", plural: "services" }).map((other) => inner(other, "spec"));
  const addresses = spec["clusterIPs"];
  const isGiven = Array.isArray(addresses) && addresses.length > 0;
  if (Array.isArray(spec["ipFamilies"]) && spec["ipFamilies"].includes("IPv6")) return;
  if (!spec["clusterIP"] && !isGiven) spec["clusterIP"] = dryRun ? triedAddress : freeAddress(others);
  if (!isGiven) spec["clusterIPs"] = [spec["clusterIP"]];
  if (!Array.isArray(spec["ipFamilies"]) || spec["ipFamilies"].length === 0)
    spec["ipFamilies"] = [isIP(String(spec["clusterIP"])) === 6 ? "IPv6" : "IPv4"];
  fillAbsent(spec, { ipFamilyPolicy: "SingleStack" });
  if (needsHealthPort(spec) && !spec["healthCheckNodePort"])
    spec["healthCheckNodePort"] = dryRun ? lastNodePort + 1 : freePort(takenPorts(others));
  if (!needsPorts(spec)) return;
  if (dryRun) for (const [index, port] of each(spec, "ports").entries()) port["nodePort"] ||= lastNodePort + 2 + index;
  else nodePorts(spec, others);
}

function freeAddress(others: readonly Fields[]): string {
  const taken = new Set(others.flatMap((other) => (other["clusterIPs"] ?? []) as string[]));
  for (;;) {
    const address = `${prefix}.${Math.floor(Math.random() * 256)}.${1 + Math.floor(Math.random() * 254)}`;
    if (!taken.has(address) && address !== `${prefix}.0.1`) return address;
  }
}

function nodePorts(spec: Fields, others: readonly Fields[]): void {
  const own = each(spec, "ports");
  const taken = takenPorts([...others, spec]);
  for (const one of own) {
    if (one["nodePort"]) continue;
    const port = freePort(taken);
    taken.add(port);
    one["nodePort"] = port;
  }
}

function takenPorts(specs: readonly Fields[]): Set<unknown> {
  const ports = specs.flatMap((spec) => each(spec, "ports").map(({ nodePort }) => nodePort));
  return new Set([...ports, ...specs.map(({ healthCheckNodePort }) => healthCheckNodePort)]);
}

function freePort(taken: ReadonlySet<unknown>): number {
  for (;;) {
    const candidate = firstNodePort + Math.floor(Math.random() * (lastNodePort - firstNodePort + 1));
    if (!taken.has(candidate)) return candidate;
  }
}

/** The balancer asks each node whether it has a pod. */
function needsHealthPort(spec: Fields): boolean {
  return spec["type"] === "LoadBalancer" && spec["externalTrafficPolicy"] === "Local";
}

/** What was allocated stays, unless the new type has no use for it. */
function keepAllocated(next: Fields, old: Fields): void {
  if (old["type"] === "ExternalName") return;
  if (next["clusterIP"] !== old["clusterIP"] && Bun.deepEquals(next["clusterIPs"], old["clusterIPs"])) {
    next["clusterIPs"] = next["clusterIP"] ? [next["clusterIP"]] : [];
  }
  const allocated = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
  for (const name of allocated) {
    const isEmpty =
      next[name] === undefined || next[name] === "" || (Array.isArray(next[name]) && next[name].length === 0);
    if (next["type"] !== "ExternalName") {
      if (isEmpty) next[name] = structuredClone(old[name]);
    } else if (isEmpty || Bun.deepEquals(next[name], old[name])) delete next[name];
  }
  const samePort = (one: Fields): Fields | undefined =>
    each(old, "ports").find((earlier) => earlier["port"] === one["port"] && earlier["protocol"] === one["protocol"]);
  for (const one of each(next, "ports")) {
    const before = samePort(one)?.["nodePort"];
    if (needsPorts(next)) {
      if (!one["nodePort"] && before) one["nodePort"] = before;
    } else if (one["nodePort"] === before) delete one["nodePort"];
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

/** Reachable from outside the cluster. */
function isOutside(spec: Fields): boolean {
  const { type } = spec;
  return (
    type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && each(spec, "externalIPs").length > 0)
  );
}
