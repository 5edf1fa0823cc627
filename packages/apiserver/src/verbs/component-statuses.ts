/**
 * Component statuses: deprecated, computed for each request and never stored. No scheduler and no controller manager
 * listen at the ports that kube-apiserver checks, and the storage takes the place of etcd.
 */
import type { Resource } from "../registry/resource.ts";
import type { Storage } from "../storage/storage.ts";
import { Stored } from "../storage/stored.ts";

const ports: Readonly<Record<string, number>> = { "controller-manager": 10257, scheduler: 10259 };

/** Whether the objects of the resource are computed. */
export function isComputed({ row }: Resource): boolean {
  return row.group === "" && row.plural === "componentstatuses";
}

/** Returns the objects in the order of their names. */
export function componentStatuses({ problem }: Storage): readonly Stored[] {
  const unreachable = Object.entries(ports).map(([name, port]) => {
    const message = `Get "https://127.0.0.1:${port}/healthz": dial tcp 127.0.0.1:${port}: connect: connection refused`;
    return componentStatus(name, message, false);
  });
  const [manager, scheduler] = unreachable;
  return [manager!, componentStatus("etcd-0", problem ?? "ok", problem === undefined), scheduler!];
}

function componentStatus(name: string, message: string, isHealthy: boolean): Stored {
  const condition = { type: "Healthy", status: isHealthy ? "True" : "False", message };
  const kind = { kind: "ComponentStatus", apiVersion: "v1" };
  return new Stored(name, 0, { object: { ...kind, metadata: { name }, conditions: [condition] } });
}
