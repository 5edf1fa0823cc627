/** The table columns of kinds of the core group. */
import type { Fields, KubeObject } from "../../hooks.ts";
import { age } from "../age.ts";
import { at, type Cell, containers, count, get, labels, list, name, sinceCreation, some } from "../cell.ts";
import { podCells } from "./pod-cells.ts";

const short: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function modes(path: string): Cell {
  return (object) => {
    const modes = new Set(get(object, path) as string[] | undefined);
    return Object.keys(short)
      .filter((mode) => modes.has(mode))
      .map((mode) => short[mode])
      .join(",");
  };
}

function storageClass(object: KubeObject): unknown {
  return (
    object.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ??
    get(object, "spec.storageClassName") ??
    ""
  );
}

/** Shows the phase, or `Terminating` once the object is being deleted. */
const phase: Cell = (object) =>
  object.metadata.deletionTimestamp ? "Terminating" : (get(object, "status.phase") ?? "");

function subjectOf(event: KubeObject): Fields {
  return (event["involvedObject"] ?? event["regarding"] ?? {}) as Fields;
}

function eventTime(event: KubeObject, now: number, which: "first" | "last"): string {
  const first = event["firstTimestamp"] ?? event["deprecatedFirstTimestamp"] ?? event["eventTime"];
  if (which === "first") return age(first, now);
  const series = get(event, "series.lastObservedTime");
  return age(series ?? event["lastTimestamp"] ?? event["deprecatedLastTimestamp"] ?? first, now);
}

export const eventCells: readonly Cell[] = [
  (event, now) => eventTime(event, now, "last"),
  at("type"),
  at("reason"),
  (event) => {
    const { kind, name: called } = subjectOf(event);
    const lower = String(kind ?? "").toLowerCase();
    return called ? `${lower}/${String(called)}` : lower;
  },
  (event) => subjectOf(event)["fieldPath"] ?? "",
  (event) => {
    const source = (event["source"] ?? event["deprecatedSource"] ?? {}) as Fields;
    const component = source["component"] || event["reportingComponent"] || event["reportingController"] || "";
    const instance = source["host"] || event["reportingInstance"] || "";
    return instance ? `${String(component)}, ${String(instance)}` : component;
  },
  (event) => String(event["message"] ?? event["note"] ?? "").trim(),
  (event, now) => eventTime(event, now, "first"),
  (event) => get(event, "series.count") ?? (event["count"] || event["deprecatedCount"] || 1),
  name,
];

function endpoints(object: KubeObject): string {
  const parts: string[] = [];
  if (list(object, "subsets").length === 0) return "<none>";
  for (const subset of list(object, "subsets")) {
    const [ports, addresses] = [list(subset, "ports"), list(subset, "addresses").map(({ ip }) => String(ip))];
    if (ports.length === 0) parts.push(...addresses);
    for (const { port } of ports)
      parts.push(...addresses.map((ip) => `${ip.includes(":") ? `[${ip}]` : ip}:${String(port)}`));
  }
  return some(parts, { most: 3 });
}

function address(type: string): Cell {
  return (node) => list(node, "status.addresses").find((one) => one["type"] === type)?.["address"] ?? "<none>";
}

function nodeStatus(node: KubeObject): string {
  const ready = list(node, "status.conditions").find((one) => one["type"] === "Ready");
  const status = ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady";
  return get(node, "spec.unschedulable") === true ? `${status},SchedulingDisabled` : status;
}

function roles({ metadata }: KubeObject): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(prefix) && key.length > prefix.length) return [key.slice(prefix.length)];
    return key === "kubernetes.io/role" && value !== "" ? [value] : [];
  });
  return [...new Set(roles)].toSorted().join(",") || "<none>";
}

function quota(isLimit: boolean): Cell {
  return (object) => {
    const [hard, used] = [
      get(object, "status.hard") as Fields | undefined,
      get(object, "status.used") as Fields | undefined,
    ];
    return Object.keys(hard ?? {})
      .toSorted()
      .filter((resource) => (resource.includes(".") && resource.split(".")[0] === "limits") === isLimit)
      .map((resource) => `${resource}: ${String(used?.[resource] ?? "0")}/${String(hard?.[resource])}`)
      .join(", ");
  };
}

function ports(service: KubeObject): string {
  const ports = list(service, "spec.ports").map(({ port, nodePort, protocol }) =>
    nodePort ? `${String(port)}:${String(nodePort)}/${String(protocol)}` : `${String(port)}/${String(protocol)}`,
  );
  return ports.length === 0 ? "<none>" : ports.join(",");
}

export function balancers(object: KubeObject): string[] {
  return list(object, "status.loadBalancer.ingress").flatMap(({ ip, hostname }) => {
    const address = ip || hostname;
    return address ? [String(address)] : [];
  });
}

function externalAddress(service: KubeObject): unknown {
  const externalIps = (get(service, "spec.externalIPs") ?? []) as string[];
  switch (get(service, "spec.type")) {
    case "LoadBalancer":
      return [...balancers(service), ...externalIps].join(",") || "<pending>";
    case "ExternalName":
      return get(service, "spec.externalName");
    case undefined:
      return "<unknown>";
    default:
      return externalIps.join(",") || "<none>";
  }
}

export const coreCells: Readonly<Record<string, readonly Cell[]>> = {
  "/ConfigMap": [name, (map) => Number(count("data")(map, 0)) + Number(count("binaryData")(map, 0)), sinceCreation],
  "/Endpoints": [name, endpoints, sinceCreation],
  "/Event": eventCells,
  "/Namespace": [name, at("status.phase"), sinceCreation],
  "/Node": [
    name,
    nodeStatus,
    roles,
    sinceCreation,
    at("status.nodeInfo.kubeletVersion"),
    address("InternalIP"),
    address("ExternalIP"),
    at("status.nodeInfo.osImage", "<unknown>"),
    (node) => {
      const [kernel, architecture] = [
        get(node, "status.nodeInfo.kernelVersion") || "<unknown>",
        get(node, "status.nodeInfo.architecture"),
      ];
      return architecture ? `${String(kernel)} (${String(architecture)})` : kernel;
    },
    at("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
  ],
  "/PersistentVolumeClaim": [
    name,
    phase,
    at("spec.volumeName"),
    (claim) => (get(claim, "spec.volumeName") ? get(claim, "status.capacity.storage") || "0" : ""),
    (claim) => (get(claim, "spec.volumeName") ? modes("status.accessModes")(claim, 0) : ""),
    storageClass,
    at("spec.volumeAttributesClassName", "<unset>"),
    sinceCreation,
    at("spec.volumeMode", "<unset>"),
  ],
  "/PersistentVolume": [
    name,
    at("spec.capacity.storage", "0"),
    modes("spec.accessModes"),
    at("spec.persistentVolumeReclaimPolicy"),
    phase,
    (volume) => {
      const claim = get(volume, "spec.claimRef") as Fields | undefined;
      return claim ? `${String(claim["namespace"] ?? "")}/${String(claim["name"] ?? "")}` : "";
    },
    storageClass,
    at("spec.volumeAttributesClassName", "<unset>"),
    at("status.reason"),
    sinceCreation,
    at("spec.volumeMode", "<unset>"),
  ],
  "/Pod": podCells,
  "/PodTemplate": [name, ...containers("template.spec"), labels("template.metadata.labels")],
  "/ReplicationController": [
    name,
    at("spec.replicas", 0),
    at("status.replicas", 0),
    at("status.readyReplicas", 0),
    sinceCreation,
    ...containers("spec.template.spec"),
    labels("spec.selector"),
  ],
  "/ResourceQuota": [name, quota(false), quota(true), sinceCreation],
  "/Secret": [name, at("type"), count("data"), sinceCreation],
  "/ServiceAccount": [name, sinceCreation],
  "/Service": [
    name,
    at("spec.type"),
    at("spec.clusterIP", "<none>"),
    externalAddress,
    ports,
    sinceCreation,
    labels("spec.selector"),
  ],
};
