/** How networking, storage, access and configuration are shown. */
import type { Fields, KubeObject } from "../hooks.ts";
import { humanDuration } from "./age.ts";
import { at, type Cell, count, get, list, name, selector, sinceCreation, some } from "./cell.ts";
import { balancers, eventCells } from "./core-cells.ts";

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

function hosts(ingress: KubeObject): string {
  const rules = list(ingress, "spec.rules");
  const named = rules.slice(0, 3).flatMap(({ host }) => (host ? [String(host)] : []));
  if (named.length === 0) return "*";
  return rules.length > 3 ? `${named.join(",")} + ${rules.length - 3} more...` : named.join(",");
}

function ingressParameters(ingressClass: KubeObject): string {
  const parameters = get(ingressClass, "spec.parameters") as Fields | undefined;
  if (!parameters) return "<none>";
  const group = parameters["apiGroup"] ? `.${String(parameters["apiGroup"])}` : "";
  return `${String(parameters["kind"])}${group}/${String(parameters["name"])}`;
}

function parent(ip: KubeObject): string {
  if (get(ip, "spec.parentRef") === undefined) return "<none>";
  const { group, resource, namespace, name: called } = (get(ip, "spec.parentRef") ?? {}) as Fields;
  const qualified = group ? `${String(resource)}.${String(group)}` : String(resource ?? "");
  return namespace ? `${qualified}/${String(namespace)}/${String(called)}` : `${qualified}/${String(called)}`;
}

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

function parameterKind(path: string): Cell {
  return (policy) => {
    const kind = get(policy, path) as Fields | undefined;
    return kind ? `${String(kind["apiVersion"] ?? "")}/${String(kind["kind"] ?? "")}` : "<unset>";
  };
}

function parameterReference(policyBinding: KubeObject): string {
  const reference = get(policyBinding, "spec.paramRef") as Fields | undefined;
  if (!reference) return "<unset>";
  if (reference["name"])
    return reference["namespace"]
      ? `${String(reference["namespace"])}/${String(reference["name"])}`
      : String(reference["name"]);
  return String(selector("spec.paramRef.selector")(policyBinding, 0));
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

export const clusterCells: Readonly<Record<string, readonly Cell[]>> = {
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
  "networking.k8s.io/IngressClass": [name, at("spec.controller"), ingressParameters, sinceCreation],
  "networking.k8s.io/Ingress": [
    name,
    at("spec.ingressClassName", "<none>"),
    hosts,
    (ingress) => balancers(ingress).join(","),
    (ingress) => (list(ingress, "spec.tls").length > 0 ? "80, 443" : "80"),
    sinceCreation,
  ],
  "networking.k8s.io/IPAddress": [name, parent, sinceCreation],
  "networking.k8s.io/NetworkPolicy": [name, selector("spec.podSelector"), sinceCreation],
  "networking.k8s.io/ServiceCIDR": [
    name,
    (range) => ((get(range, "spec.cidrs") ?? []) as string[]).join(","),
    sinceCreation,
  ],
  "rbac.authorization.k8s.io/ClusterRoleBinding": binding,
  "rbac.authorization.k8s.io/RoleBinding": binding,
  "storage.k8s.io/CSIDriver": [
    name,
    at("spec.attachRequired", true),
    at("spec.podInfoOnMount", false),
    at("spec.storageCapacity", false),
    (driver) =>
      list(driver, "spec.tokenRequests")
        .map(({ audience }) => String(audience))
        .join(",") || "<unset>",
    at("spec.requiresRepublish", false),
    (driver) => ((get(driver, "spec.volumeLifecycleModes") ?? []) as string[]).join(",") || "<none>",
    sinceCreation,
  ],
  "storage.k8s.io/CSINode": [name, count("spec.drivers"), sinceCreation],
  "storage.k8s.io/StorageClass": [
    ({ metadata }) =>
      metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true"
        ? `${metadata.name} (default)`
        : (metadata.name ?? ""),
    at("provisioner"),
    at("reclaimPolicy", "Delete"),
    at("volumeBindingMode", "Immediate"),
    at("allowVolumeExpansion", false),
    sinceCreation,
  ],
  "storage.k8s.io/VolumeAttachment": [
    name,
    at("spec.attacher"),
    at("spec.source.persistentVolumeName"),
    at("spec.nodeName"),
    at("status.attached", false),
    sinceCreation,
  ],
  "storage.k8s.io/VolumeAttributesClass": [name, at("driverName"), sinceCreation],
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": [
    name,
    count("spec.mutations"),
    parameterKind("spec.paramKind"),
    sinceCreation,
  ],
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": [
    name,
    at("spec.policyName"),
    parameterReference,
    sinceCreation,
  ],
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": [name, count("webhooks"), sinceCreation],
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": [
    name,
    count("spec.validations"),
    parameterKind("spec.paramKind"),
    sinceCreation,
  ],
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": [
    name,
    at("spec.policyName"),
    parameterReference,
    sinceCreation,
  ],
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": [name, count("webhooks"), sinceCreation],
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
  "resource.k8s.io/ResourceSlice": [
    name,
    (slice) =>
      get(slice, "spec.nodeName") ||
      (get(slice, "spec.allNodes") ? "<all>" : get(slice, "spec.nodeSelector") ? "<some>" : ""),
    at("spec.driver"),
    at("spec.pool.name"),
    sinceCreation,
  ],
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
