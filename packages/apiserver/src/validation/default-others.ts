/** The defaults of services, storage, policies and configuration. */
import type { Fields } from "../hooks.ts";
import { type DefaultTable, each, fill, fillAbsent, filled, filledAbsent, fillNumbers, has, inner } from "./fill.ts";

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

export const otherDefaults: DefaultTable = {
  Service: (service) => {
    const spec = inner(service, "spec");
    fill(spec, { sessionAffinity: "None", type: "ClusterIP" });
    if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
    if (spec["sessionAffinity"] === "ClientIP") {
      fill(spec, { sessionAffinityConfig: {} });
      const config = inner(spec, "sessionAffinityConfig");
      fill(config, { clientIP: {} });
      fill(inner(config, "clientIP"), { timeoutSeconds: 10800 });
    }
    for (const port of each(spec, "ports")) {
      fill(port, { protocol: "TCP" });
      if (!has(port, "targetPort") || port["targetPort"] === 0 || port["targetPort"] === "")
        port["targetPort"] = port["port"];
    }
    const { type } = spec;
    const isOutside = type === "NodePort" || type === "LoadBalancer";
    if (isOutside || (type === "ClusterIP" && hasItems(spec["externalIPs"]))) {
      fill(spec, { externalTrafficPolicy: "Cluster" });
    }
    if (isOutside || type === "ClusterIP") fillAbsent(spec, { internalTrafficPolicy: "Cluster" });
    if (type === "LoadBalancer") {
      fill(spec, { allocateLoadBalancerNodePorts: true });
      for (const ingress of each(inner(inner(service, "status"), "loadBalancer"), "ingress")) {
        if (ingress["ip"]) fill(ingress, { ipMode: "VIP" });
      }
    }
  },
  "/EndpointPort": filled({ protocol: "TCP" }),
  "discovery.k8s.io/EndpointPort": (port) => {
    fillAbsent(port, { name: "", protocol: "TCP" });
  },
  Secret: (secret) => {
    fill(secret, { type: "Opaque" });
    const data = inner(secret, "data");
    for (const [name, value] of Object.entries(data)) if (value === null) data[name] = "";
    const plain = Object.entries(inner(secret, "stringData"));
    if (plain.length > 0) {
      const encoded = plain.map(([name, text]) => [name, Buffer.from(String(text)).toString("base64")] as const);
      secret["data"] = { ...inner(secret, "data"), ...Object.fromEntries(encoded) };
    }
    delete secret["stringData"];
  },
  NodeSpec: (spec) => {
    const one = spec["podCIDR"];
    const many = spec["podCIDRs"] as string[] | undefined;
    if (one && many?.[0] !== one) spec["podCIDRs"] = [one];
    else if (!one && many?.[0]) spec["podCIDR"] = many[0];
  },
  Namespace: (namespace) => {
    fill(namespace, { status: {} });
    fill(inner(namespace, "status"), { phase: "Active" });
    const { metadata } = namespace as { metadata: { name?: string; labels?: Fields } };
    if (metadata.name) metadata.labels = { ...metadata.labels, "kubernetes.io/metadata.name": metadata.name };
  },
  NodeStatus: (status) => {
    if (!has(status, "allocatable") && has(status, "capacity"))
      status["allocatable"] = { ...inner(status, "capacity") };
  },
  PersistentVolume: (volume) => {
    fill(volume, { status: {} });
    fill(inner(volume, "status"), { phase: "Pending" });
    const spec = inner(volume, "spec");
    fill(spec, { persistentVolumeReclaimPolicy: "Retain" });
    filledAbsent({ volumeMode: "Filesystem" })(spec);
  },
  PersistentVolumeClaim: (claim) => {
    fill(claim, { status: {} });
    fill(inner(claim, "status"), { phase: "Pending" });
  },
  PersistentVolumeClaimSpec: filledAbsent({ volumeMode: "Filesystem" }),
  LimitRangeItem: (item) => {
    if (item["type"] !== "Container") return;
    const [limits, requests] = [{ ...inner(item, "default") }, { ...inner(item, "defaultRequest") }];
    fill(limits, inner(item, "max"));
    fill(requests, limits);
    fill(requests, inner(item, "min"));
    if (Object.keys(limits).length > 0) item["default"] = limits;
    if (Object.keys(requests).length > 0) item["defaultRequest"] = requests;
  },
  NetworkPolicyPort: filledAbsent({ protocol: "TCP" }),
  NetworkPolicySpec: (spec) => {
    if (
      each({ x: spec["policyTypes"] }, "x").length > 0 ||
      (Array.isArray(spec["policyTypes"]) && spec["policyTypes"].length > 0)
    )
      return;
    const hasEgress = Array.isArray(spec["egress"]) && spec["egress"].length > 0;
    spec["policyTypes"] = hasEgress ? ["Ingress", "Egress"] : ["Ingress"];
  },
  IngressClassParametersReference: filledAbsent({ scope: "Cluster" }),
  ClusterRoleBinding: filledRole,
  RoleBinding: filledRole,
  "rbac.authorization.k8s.io/Subject": (subject) => {
    if (subject["kind"] === "User" || subject["kind"] === "Group") fill(subject, { apiGroup: rbac });
  },
  StorageClass: filledAbsent({ reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  CSIDriverSpec: (spec) => {
    fillAbsent(spec, {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      requiresRepublish: false,
      seLinuxMount: false,
    });
    if (!Array.isArray(spec["volumeLifecycleModes"]) || spec["volumeLifecycleModes"].length === 0) {
      spec["volumeLifecycleModes"] = ["Persistent"];
    }
  },
  PriorityClass: filledAbsent({ preemptionPolicy: "PreemptLowerPriority" }),
  MutatingWebhook: filledAbsent({
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    reinvocationPolicy: "Never",
  }),
  ValidatingWebhook: filledAbsent({
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  }),
  ValidatingAdmissionPolicySpec: filledAbsent({ failurePolicy: "Fail" }),
  MutatingAdmissionPolicySpec: filledAbsent({ failurePolicy: "Fail" }),
  MatchResources: filledAbsent({ matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} }),
  RuleWithOperations: filledAbsent({ scope: "*" }),
  NamedRuleWithOperations: filledAbsent({ scope: "*" }),
  ServiceReference: filled({ port: 443 }),
  FlowSchemaSpec: (spec) => fillNumbers(spec, { matchingPrecedence: 1000 }),
  LimitedPriorityLevelConfiguration: filled({ nominalConcurrencyShares: 30, lendablePercent: 0 }),
  ExemptPriorityLevelConfiguration: filled({ nominalConcurrencyShares: 0, lendablePercent: 0 }),
  QueuingConfiguration: (queuing) => fillNumbers(queuing, { handSize: 8, queues: 64, queueLengthLimit: 50 }),
  CustomResourceDefinitionSpec: (spec) => {
    const names = inner(spec, "names");
    if (typeof names["kind"] === "string" && names["kind"] !== "") {
      fill(names, { singular: names["kind"].toLowerCase(), listKind: `${names["kind"]}List` });
    }
    fill(spec, { conversion: { strategy: "None" } });
    fill(inner(spec, "conversion"), { strategy: "None" });
  },
  ExactDeviceRequest: (request) => {
    fill(request, { allocationMode: "ExactCount" });
    if (request["allocationMode"] === "ExactCount" && !request["count"]) request["count"] = 1;
  },
  DeviceSubRequest: (request) => {
    fill(request, { allocationMode: "ExactCount" });
    if (request["allocationMode"] === "ExactCount" && !request["count"]) request["count"] = 1;
  },
};

const rbac = "rbac.authorization.k8s.io";

function filledRole(binding: Fields): void {
  fill(inner(binding, "roleRef"), { apiGroup: rbac });
}
