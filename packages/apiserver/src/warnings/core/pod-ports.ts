/** Warns of container ports that collide, or seem to. */
import { goQuoted } from "../../field-error.ts";
import type { Fields } from "../../hooks.ts";
import { each } from "../../validation/fill.ts";
import { getOrInsert } from "../../get-or-insert.ts";

/** A container and its path. */
export interface PlacedContainer {
  readonly container: Fields;
  readonly path: string;
}

interface PlacedPort {
  readonly path: string;
  readonly hostIp: string;
  readonly hostPort: number;
}

/** Returns the warnings of all containers, in their order. */
export function portWarnings(containers: readonly PlacedContainer[]): string[] {
  return [...collisions(containers), ...repeatedNames(containers)];
}

function collisions(containers: readonly PlacedContainer[]): string[] {
  const warnings: string[] = [];
  const seen = new Map<string, PlacedPort[]>();
  for (const { container, path } of containers) {
    for (const [index, port] of each(container, "ports").entries()) {
      const here: PlacedPort = {
        path: `${path}.ports[${index}]`,
        hostIp: String(port["hostIP"] ?? ""),
        hostPort: Number(port["hostPort"] ?? 0),
      };
      if (here.hostIp !== "" && here.hostPort === 0) {
        const { name = "", containerPort = 0, protocol = "" } = port;
        const definition = `{Name:${String(name)} HostPort:0 ContainerPort:${String(containerPort)} Protocol:${String(protocol)} HostIP:${here.hostIp}}`;
        warnings.push(`${here.path}: hostIP set without hostPort: ${definition}`);
      }
      const others = getOrInsert(seen, `${String(port["containerPort"])}/${String(port["protocol"])}`, () => []);
      for (const other of others) {
        const problem = problemOf(here, other);
        if (problem !== undefined) warnings.push(`${here.path}: ${problem} port definition with ${other.path}`);
      }
      others.push(here);
    }
  }
  return warnings;
}

function problemOf(one: PlacedPort, other: PlacedPort): string | undefined {
  if (one.hostIp === other.hostIp && one.hostPort === other.hostPort) return "duplicate";
  if (one.hostPort === 0 || other.hostPort === 0) return "overlapping";
  const isOneOpen = (one.hostIp === "") !== (other.hostIp === "");
  return one.hostPort === other.hostPort && isOneOpen ? "dangerously ambiguous" : undefined;
}

function repeatedNames(containers: readonly PlacedContainer[]): string[] {
  const warnings: string[] = [];
  const seen = new Map<string, string>();
  for (const { container, path } of containers) {
    for (const [index, { name }] of each(container, "ports").entries()) {
      if (typeof name !== "string" || name === "") continue;
      const first = seen.get(name);
      if (first === undefined) seen.set(name, `${path}.ports[${index}]`);
      else
        warnings.push(
          `${path}.ports[${index}]: duplicate port name ${goQuoted(name)} with ${first}, services and probes that select ports by name will use ${first}`,
        );
    }
  }
  return warnings;
}
