/** Allocates the addresses and ports of services, requested ones and free ones. */
import { type FieldError, goQuoted } from "../../field-error.ts";
import type { Fields, KubeObject, WriteContext } from "../../hooks.ts";
import { internalError, invalid, type StatusError } from "../../status.ts";
import { each, inner } from "../fill.ts";
import { initFamilies } from "./service-families.ts";
import type { ServiceRanges } from "./service-ranges.ts";

/**
 * Allocates addresses and ports of a service, before its other fields are validated.
 *
 * @throws StatusError 422 when one is not available
 */
export function allocate(service: KubeObject, old: KubeObject | undefined, context: WriteContext): void {
  const { reader, dryRun, ranges } = context;
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
    addresses(spec, { name: service.metadata.name ?? "", others, dryRun, ranges, refuse });
  ports(spec, before, { others, dryRun, ranges, refuse });
  healthPort(spec, before, { others, dryRun, ranges });
}

interface Shared {
  readonly others: readonly Fields[];
  readonly dryRun: boolean;
  readonly ranges: ServiceRanges;
}

interface Allocation extends Shared {
  readonly refuse: (error: FieldError) => StatusError;
}

function addresses(
  spec: Fields,
  { name, others, dryRun, ranges, refuse }: Allocation & { readonly name: string },
): void {
  const addresses = (spec["clusterIPs"] ?? []) as string[];
  if (addresses[0] === "None") return;
  const held = new Set(others.flatMap((other) => (other["clusterIPs"] ?? []) as string[]));
  const [address] = addresses;
  if (address === undefined || address === "") {
    // A dry run allocates nothing.
    const free = dryRun ? ranges.addressAt(0) : freeAddress(held, ranges);
    if (free === undefined)
      throw internalError(`failed to allocate a serviceIP for Service ${goQuoted(name)}: range is full`);
    Object.assign(spec, { clusterIP: free, clusterIPs: [free] });
    return;
  }
  const failed = (why: string): StatusError => {
    const detail = `failed to allocate IP ${address}: ${why}`;
    return refuse({ type: "Invalid", field: "spec.clusterIPs", badValue: addresses, detail });
  };
  if (!ranges.holds(address)) {
    const why = `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${ranges.addresses}`;
    throw failed(dryRun ? why : "the provided network does not match the current range");
  }
  if (!dryRun && held.has(address)) throw failed("provided IP is already allocated");
}

/** Returns a random address, but for the first one, which is the API server's, and the last one; `undefined` when none is free. */
function freeAddress(held: ReadonlySet<string>, { addressAt, size }: ServiceRanges): string | undefined {
  const usable = size - 3;
  const start = Math.floor(Math.random() * usable);
  for (let step = 0; step < usable; step++) {
    const address = addressAt(2 + ((start + step) % usable));
    if (!held.has(address)) return address;
  }
  return undefined;
}

/** Whether a service gets node ports that it does not name. */
export function needsPorts(spec: Fields): boolean {
  return (
    spec["type"] === "NodePort" || (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false)
  );
}

function ports(spec: Fields, before: Fields | undefined, { others, dryRun, ranges, refuse }: Allocation): void {
  if (spec["type"] !== "NodePort" && spec["type"] !== "LoadBalancer") return;
  const usedPorts = takenPorts(others);
  const own = new Set(each(before ?? {}, "ports").map(({ nodePort }) => nodePort));
  const byPort = new Map<unknown, unknown>();
  let tried = ranges.lastPort + 2;
  for (const [index, port] of each(spec, "ports").entries()) {
    if (!port["nodePort"] && !needsPorts(spec)) continue;
    // Ports with the same number and different protocols share a node port.
    if (!port["nodePort"] && before === undefined)
      port["nodePort"] = byPort.get(port["port"]) ?? nodePortOf(spec, port);
    const node = port["nodePort"];
    if (node) {
      const problem =
        own.has(node) || byPort.get(port["port"]) === node
          ? undefined
          : portProblem(node, usedPorts, { dryRun, ranges });
      if (problem !== undefined)
        throw refuse({ type: "Invalid", field: `spec.ports[${index}].nodePort`, badValue: node, detail: problem });
    } else {
      port["nodePort"] = dryRun ? tried++ : freePort(usedPorts, ranges);
    }
    usedPorts.add(port["nodePort"]);
    if (!byPort.has(port["port"])) byPort.set(port["port"], port["nodePort"]);
  }
}

/** Returns the node port that another port with the same number requests. */
function nodePortOf(spec: Fields, { port }: Fields): unknown {
  return each(spec, "ports").find((one) => one["port"] === port && one["nodePort"])?.["nodePort"];
}

function portProblem(
  port: unknown,
  taken: ReadonlySet<unknown>,
  { dryRun, ranges: { firstPort, lastPort } }: Pick<Shared, "dryRun" | "ranges">,
): string | undefined {
  if (!dryRun && (Number(port) < firstPort || Number(port) > lastPort))
    return `provided port is not in the valid range. The range of valid ports is ${firstPort}-${lastPort}`;
  return taken.has(port) ? "provided port is already allocated" : undefined;
}

/** Whether the load balancer checks each node for a pod of the service. */
export function needsHealthPort(spec: Fields): boolean {
  return spec["type"] === "LoadBalancer" && spec["externalTrafficPolicy"] === "Local";
}

function healthPort(spec: Fields, before: Fields | undefined, { others, dryRun, ranges }: Shared): void {
  if (!needsHealthPort(spec) || (before !== undefined && needsHealthPort(before))) return;
  const usedPorts = takenPorts([...others, spec].map((one) => (one === spec ? { ports: spec["ports"] } : one)));
  const port = spec["healthCheckNodePort"];
  if (!port) {
    spec["healthCheckNodePort"] = dryRun ? ranges.lastPort + 1 : freePort(usedPorts, ranges);
    return;
  }
  const problem = portProblem(port, usedPorts, { dryRun, ranges });
  if (problem !== undefined)
    throw internalError(
      `failed to allocate requested HealthCheck NodePort ${goQuoted(String(port)).slice(1, -1)}: ${problem}`,
    );
}

function takenPorts(specs: readonly Fields[]): Set<unknown> {
  const nodePorts = specs.flatMap((spec) => each(spec, "ports").map(({ nodePort }) => nodePort));
  return new Set([...nodePorts, ...specs.map(({ healthCheckNodePort }) => healthCheckNodePort)]);
}

function freePort(taken: ReadonlySet<unknown>, { firstPort, lastPort }: ServiceRanges): number {
  const size = lastPort - firstPort + 1;
  const start = Math.floor(Math.random() * size);
  for (let step = 0; step < size; step++) {
    const candidate = firstPort + ((start + step) % size);
    if (!taken.has(candidate)) return candidate;
  }
  throw internalError("failed to allocate a nodePort: range is full");
}
