/** Allocates the addresses and ports of services, requested ones and free ones. */
import { type FieldError, goQuoted } from "../../field-error.ts";
import type { Fields, KubeObject, WriteContext } from "../../hooks.ts";
import { internalError, invalid, type StatusError } from "../../status.ts";
import { each, inner } from "../fill.ts";
import { initFamilies } from "./service-families.ts";

const [firstNodePort, lastNodePort] = [30_000, 32_767];
const validPorts = `The range of valid ports is ${firstNodePort}-${lastNodePort}`;
/** The real server starts with the address range 10.96.0.0/16. */
const prefix = "10.96";
const range = /^10\.96\.\d{1,3}\.\d{1,3}$/;
/** A dry run allocates nothing. */
const triedAddress = `${prefix}.0.0`;

/**
 * Allocates addresses and ports of a service, before its other fields are validated.
 *
 * @throws StatusError 422 when one is not available
 */
export function allocate(service: KubeObject, old: KubeObject | undefined, { reader, dryRun }: WriteContext): void {
  const spec = inner(service, "spec");
  if (spec["clusterIP"] && ((spec["clusterIPs"] ?? []) as string[]).length === 0)
    spec["clusterIPs"] = [spec["clusterIP"]];
  const before = old === undefined ? undefined : inner(old, "spec");
  const refuse = (error: FieldError): StatusError =>
    invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", { errors: [error] });
  const errors = initFamilies(spec, before);
  if (errors.length > 0) throw invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", { errors });
  if (spec["type"] === "ExternalName") return;
  const others = reader
    .list({ group: "", plural: "services" })
    .filter(({ metadata }) => old === undefined || metadata.uid !== old.metadata.uid)
    .map((other) => inner(other, "spec"));
  if (before === undefined || before["type"] === "ExternalName" || !before["clusterIP"])
    addresses(spec, { others, dryRun, refuse });
  ports(spec, before, { others, dryRun, refuse });
  healthPort(spec, before, { others, dryRun });
}

interface Shared {
  readonly others: readonly Fields[];
  readonly dryRun: boolean;
}

interface Allocation extends Shared {
  readonly refuse: (error: FieldError) => StatusError;
}

function addresses(spec: Fields, { others, dryRun, refuse }: Allocation): void {
  const addresses = (spec["clusterIPs"] ?? []) as string[];
  if (addresses[0] === "None") return;
  const held = new Set(others.flatMap((other) => (other["clusterIPs"] ?? []) as string[]));
  const [address] = addresses;
  if (address === undefined || address === "") {
    const free = dryRun ? triedAddress : freeAddress(held);
    Object.assign(spec, { clusterIP: free, clusterIPs: [free] });
    return;
  }
  const failed = (why: string): StatusError => {
    const detail = `failed to allocate IP ${address}: ${why}`;
    return refuse({ type: "Invalid", field: "spec.clusterIPs", badValue: addresses, detail });
  };
  if (!range.test(address)) {
    const why = `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${prefix}.0.0/16`;
    throw failed(dryRun ? why : "the provided network does not match the current range");
  }
  if (!dryRun && held.has(address)) throw failed("provided IP is already allocated");
}

function freeAddress(held: ReadonlySet<string>): string {
  for (;;) {
    const address = `${prefix}.${Math.floor(Math.random() * 256)}.${1 + Math.floor(Math.random() * 254)}`;
    if (!held.has(address) && address !== `${prefix}.0.1`) return address;
  }
}

/** Whether a service gets node ports that it does not name. */
export function needsPorts(spec: Fields): boolean {
  return (
    spec["type"] === "NodePort" || (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false)
  );
}

function ports(spec: Fields, before: Fields | undefined, { others, dryRun, refuse }: Allocation): void {
  if (spec["type"] !== "NodePort" && spec["type"] !== "LoadBalancer") return;
  const usedPorts = takenPorts(others);
  const own = new Set(each(before ?? {}, "ports").map(({ nodePort }) => nodePort));
  const byPort = new Map<unknown, unknown>();
  let tried = lastNodePort + 2;
  for (const [index, port] of each(spec, "ports").entries()) {
    if (!port["nodePort"] && !needsPorts(spec)) continue;
    // Ports with the same number and different protocols share a node port.
    if (!port["nodePort"] && before === undefined)
      port["nodePort"] = byPort.get(port["port"]) ?? nodePortOf(spec, port);
    const node = port["nodePort"];
    if (node) {
      const problem =
        own.has(node) || byPort.get(port["port"]) === node ? undefined : portProblem(node, usedPorts, dryRun);
      if (problem !== undefined)
        throw refuse({ type: "Invalid", field: `spec.ports[${index}].nodePort`, badValue: node, detail: problem });
    } else {
      port["nodePort"] = dryRun ? tried++ : freePort(usedPorts);
    }
    usedPorts.add(port["nodePort"]);
    if (!byPort.has(port["port"])) byPort.set(port["port"], port["nodePort"]);
  }
}

/** Returns the node port that another port with the same number requests. */
function nodePortOf(spec: Fields, { port }: Fields): unknown {
  return each(spec, "ports").find((one) => one["port"] === port && one["nodePort"])?.["nodePort"];
}

function portProblem(port: unknown, taken: ReadonlySet<unknown>, dryRun: boolean): string | undefined {
  if (!dryRun && (Number(port) < firstNodePort || Number(port) > lastNodePort))
    return `provided port is not in the valid range. ${validPorts}`;
  return taken.has(port) ? "provided port is already allocated" : undefined;
}

/** Whether the load balancer checks each node for a pod of the service. */
export function needsHealthPort(spec: Fields): boolean {
  return spec["type"] === "LoadBalancer" && spec["externalTrafficPolicy"] === "Local";
}

function healthPort(spec: Fields, before: Fields | undefined, { others, dryRun }: Shared): void {
  if (!needsHealthPort(spec) || (before !== undefined && needsHealthPort(before))) return;
  const usedPorts = takenPorts([...others, spec].map((one) => (one === spec ? { ports: spec["ports"] } : one)));
  const port = spec["healthCheckNodePort"];
  if (!port) {
    spec["healthCheckNodePort"] = dryRun ? lastNodePort + 1 : freePort(usedPorts);
    return;
  }
  const problem = portProblem(port, usedPorts, dryRun);
  if (problem !== undefined)
    throw internalError(
      `failed to allocate requested HealthCheck NodePort ${goQuoted(String(port)).slice(1, -1)}: ${problem}`,
    );
}

function takenPorts(specs: readonly Fields[]): Set<unknown> {
  const nodePorts = specs.flatMap((spec) => each(spec, "ports").map(({ nodePort }) => nodePort));
  return new Set([...nodePorts, ...specs.map(({ healthCheckNodePort }) => healthCheckNodePort)]);
}

function freePort(taken: ReadonlySet<unknown>): number {
  for (;;) {
    const candidate = firstNodePort + Math.floor(Math.random() * (lastNodePort - firstNodePort + 1));
    if (!taken.has(candidate)) return candidate;
  }
}
