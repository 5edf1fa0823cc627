/** The table columns of kinds of the smaller groups. */
import type { KubeObject } from "../hooks.ts";
import { humanDuration } from "./age.ts";
import { type Cell, at, get, list, name, sinceCreation, some } from "./cell.ts";
import { eventCells } from "./core/core-cells.ts";

function bounds(path: string): Cell {
  return (object) => String(get(object, path) ?? "N/A");
}

function subjects(kind: string): Cell {
  return (binding) =>
    list(binding, "subjects")
      .filter((one) => one["kind"] === kind)
      .map((one) =>
        kind === "ServiceAccount" ? `${String(one["namespace"] ?? "")}/${String(one["name"])}` : String(one["name"]),
      )
      .join(", ");
}

function role(binding: KubeObject): string {
  return `${String(get(binding, "roleRef.kind"))}/${String(get(binding, "roleRef.name"))}`;
}

const binding: readonly Cell[] = [
  name,
  role,
  sinceCreation,
  subjects("User"),
  subjects("Group"),
  subjects("ServiceAccount"),
];

function requestStatus(request: KubeObject): string {
  const has = (type: string): boolean => list(request, "status.conditions").some((one) => one["type"] === type);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return `${decision}${has("Failed") ? ",Failed" : ""}${get(request, "status.certificate") ? ",Issued" : ""}`;
}

function available(service: KubeObject): string {
  const condition = list(service, "status.conditions").find((one) => one["type"] === "Available");
  if (condition === undefined) return "Unknown";
  return condition["status"] === "True" ? "True" : `${String(condition["status"])} (${String(condition["reason"])})`;
}

function missingLevel(schema: KubeObject): string {
  const condition = list(schema, "status.conditions").find((one) => one["type"] === "Dangling");
  return condition === undefined ? "?" : String(condition["status"]);
}

function queues(path: string): Cell {
  return at(`spec.limited.limitResponse.queuing.${path}`, "<none>");
}

function claimState(claim: KubeObject): string {
  const states: string[] = [];
  if (claim.metadata.deletionTimestamp) states.push("deleted");
  if (get(claim, "status.allocation")) states.push("allocated");
  else if (!claim.metadata.deletionTimestamp) states.push("pending");
  if (list(claim, "status.reservedFor").length > 0) states.push("reserved");
  return states.join(",");
}

const createdAt: Cell = ({ metadata }) => metadata.creationTimestamp ?? "0001-01-01T00:00:00Z";

export const otherCells: Readonly<Record<string, readonly Cell[]>> = {
  "policy/PodDisruptionBudget": [
    name,
    bounds("spec.minAvailable"),
    bounds("spec.maxUnavailable"),
    at("status.disruptionsAllowed", 0),
    sinceCreation,
  ],
  "scheduling.k8s.io/PriorityClass": [
    name,
    at("value", 0),
    at("globalDefault", false),
    sinceCreation,
    at("preemptionPolicy"),
  ],
  "coordination.k8s.io/Lease": [name, at("spec.holderIdentity"), sinceCreation],
  "node.k8s.io/RuntimeClass": [name, at("handler"), sinceCreation],
  "/LimitRange": [name, createdAt],
  "apiregistration.k8s.io/APIService": [
    name,
    (service) =>
      get(service, "spec.service")
        ? `${String(get(service, "spec.service.namespace"))}/${String(get(service, "spec.service.name"))}`
        : "Local",
    available,
    sinceCreation,
  ],
  "events.k8s.io/Event": eventCells,
  "certificates.k8s.io/CertificateSigningRequest": [
    name,
    sinceCreation,
    at("spec.signerName", "<none>"),
    at("spec.username"),
    (request) => {
      const seconds = get(request, "spec.expirationSeconds");
      return typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>";
    },
    requestStatus,
  ],
  "rbac.authorization.k8s.io/ClusterRoleBinding": binding,
  "rbac.authorization.k8s.io/RoleBinding": binding,
  "discovery.k8s.io/EndpointSlice": [
    name,
    at("addressType"),
    (slice) =>
      some(
        list(slice, "ports").map(({ port, name: called }) => String(port ?? called ?? "*")),
        { most: 3 },
      ) || "<unset>",
    (slice) =>
      some(
        list(slice, "endpoints").flatMap(({ addresses }) => (addresses ?? []) as string[]),
        { most: 3 },
      ) || "<unset>",
    sinceCreation,
  ],
  "resource.k8s.io/DeviceClass": [name, sinceCreation],
  "resource.k8s.io/ResourceClaim": [name, claimState, sinceCreation],
  "resource.k8s.io/ResourceClaimTemplate": [name, sinceCreation],
  "resource.k8s.io/ResourceSlice": [name, at("spec.nodeName"), at("spec.driver"), at("spec.pool.name"), sinceCreation],
  "flowcontrol.apiserver.k8s.io/FlowSchema": [
    name,
    at("spec.priorityLevelConfiguration.name"),
    at("spec.matchingPrecedence", 0),
    at("spec.distinguisherMethod.type", "<none>"),
    sinceCreation,
    missingLevel,
  ],
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": [
    name,
    at("spec.type"),
    at("spec.limited.nominalConcurrencyShares", "<none>"),
    queues("queues"),
    queues("handSize"),
    queues("queueLengthLimit"),
    sinceCreation,
  ],
};
