/** Kinds of configuration, networking and access. */
import { fixedAt, type Kind, kindOf, part, partAt } from "./kind.ts";

const ports = (...list: { port: number; name?: string; protocol?: string; targetPort?: number | string }[]) => ({
  spec: { ports: list },
});
const backend = { service: { name: "s", port: { number: 80 } } };
const reference = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "child" };
const read = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };

export const core: readonly Kind[] = [
  kindOf({
    apiVersion: "v1",
    kind: "Service",
    plural: "services",
    base: { spec: { ports: [{ port: 80 }] } },
    parts: [
      part(
        ports({ port: 80, name: "http", targetPort: "web" }),
        ports({ port: 80, name: "a" }, { port: 443, name: "b", targetPort: 8443 }),
        ports({ port: 53, name: "u", protocol: "UDP" }, { port: 53, name: "t" }),
        ports({ port: 8080 }),
      ),
      partAt("spec.selector", { app: "child" }, { app: "child", tier: "" }, {}),
      partAt("spec.type", "ClusterIP", "NodePort", "LoadBalancer"),
      partAt("spec.sessionAffinity", "ClientIP", "None"),
      partAt("spec.publishNotReadyAddresses", true, false),
      partAt("spec.internalTrafficPolicy", "Local", "Cluster"),
      part({ spec: { type: "NodePort", externalTrafficPolicy: "Local" } }),
      part({
        spec: { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, loadBalancerSourceRanges: ["10.0.0.0/8"] },
      }),
      partAt("spec.externalIPs", ["10.9.9.9"], []),
    ],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    parts: [
      partAt("data", { a: "1" }, { a: "2" }, { a: "1", b: "" }, { b: "2", "c.yaml": "x: 1\n" }, {}),
      partAt("binaryData", { bin: "eA==" }, { bin: "" }, {}),
      partAt("immutable", false),
    ],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "Secret",
    plural: "secrets",
    parts: [
      partAt("data", { a: "MQ==" }, { a: "Mg==", b: "" }, { c: "eA==" }, {}),
      partAt("stringData", { s: "text" }, { s: "", t: "ü" }, {}),
      fixedAt("type", "Opaque", "example.com/x"),
      partAt("immutable", false),
    ],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    parts: [
      partAt("automountServiceAccountToken", false, true),
      partAt("imagePullSecrets", [{ name: "a" }], [{ name: "b" }, { name: "a" }], []),
      partAt("secrets", [{ name: "t" }], []),
    ],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "ResourceQuota",
    plural: "resourcequotas",
    limits: true,
    parts: [
      partAt(
        "spec.hard",
        { "limits.cpu": "10" },
        { "limits.cpu": "1000m", "limits.memory": "1024Mi" },
        { "count/jobs.batch": "0" },
        { pods: 100 },
        {},
      ),
      fixedAt("spec.scopes", ["NotTerminating"]),
    ],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "LimitRange",
    plural: "limitranges",
    limits: true,
    base: { spec: { limits: [{ type: "Container", max: { cpu: "4000m" } }] } },
    parts: [
      partAt(
        "spec.limits",
        [{ type: "Container", default: { cpu: "500m" }, defaultRequest: { cpu: "0.1" } }],
        [
          { type: "PersistentVolumeClaim", min: { storage: "1024Mi" } },
          { type: "Pod", max: { memory: "8192Mi" } },
        ],
      ),
    ],
  }),
  kindOf({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    base: { spec: { podSelector: {} } },
    parts: [
      partAt("spec.podSelector", { matchLabels: { app: "child" } }),
      partAt(
        "spec.ingress",
        [{ ports: [{ port: 80 }], from: [{ podSelector: { matchLabels: { a: "1" } } }] }],
        [{}],
        [],
      ),
      partAt("spec.egress", [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }] }], []),
      partAt("spec.policyTypes", ["Ingress"], ["Egress", "Ingress"], []),
    ],
  }),
  kindOf({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    plural: "ingresses",
    base: { spec: { defaultBackend: backend } },
    parts: [
      partAt(
        "spec.rules",
        [{ host: "a.example.com", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
        [
          {
            http: {
              paths: [
                { path: "/x", pathType: "Exact", backend },
                { path: "/", pathType: "Prefix", backend },
              ],
            },
          },
        ],
        [],
      ),
      partAt("spec.tls", [{ hosts: ["a.example.com"] }], [{ secretName: "t" }], []),
      partAt("spec.ingressClassName", "nginx", "other"),
    ],
  }),
  kindOf({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    plural: "horizontalpodautoscalers",
    base: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" } } },
    parts: [
      partAt("spec.minReplicas", 1, 2),
      partAt("spec.maxReplicas", 5),
      partAt(
        "spec.metrics",
        [{ type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "1000m" } } }],
        [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } }],
      ),
      partAt(
        "spec.behavior",
        { scaleDown: { stabilizationWindowSeconds: 0 } },
        {
          scaleUp: { selectPolicy: "Disabled" },
          scaleDown: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] },
        },
      ),
    ],
  }),
  kindOf({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    base: { spec: { selector: { matchLabels: { app: "child" } } } },
    parts: [
      partAt("spec.minAvailable", 0, 1, "50%"),
      partAt("spec.unhealthyPodEvictionPolicy", "AlwaysAllow", "IfHealthyBudget"),
      partAt(
        "spec.selector",
        { matchLabels: { app: "other" } },
        { matchExpressions: [{ key: "a", operator: "Exists" }] },
      ),
    ],
  }),
  kindOf({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    plural: "roles",
    base: { rules: [read] },
    parts: [partAt("rules", [{ ...read, resourceNames: ["x"] }], [read, { ...read, verbs: ["*"] }], [])],
  }),
  kindOf({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    plural: "rolebindings",
    base: { roleRef: reference, subjects: [{ kind: "Group", name: "readers" }] },
    parts: [
      partAt(
        "subjects",
        [{ kind: "User", name: "jane" }],
        [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
        [],
      ),
    ],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    base: {
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "x", resources: { requests: { storage: "2048Mi" } } },
    },
    parts: [
      fixedAt("spec.volumeMode", "Filesystem", "Block"),
      fixedAt("spec.selector", { matchLabels: { a: "1" } }, {}),
    ],
  }),
  kindOf({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    base: { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] },
    parts: [
      partAt("endpoints", [{ addresses: ["10.0.0.2"], conditions: { ready: false } }, { addresses: ["10.0.0.1"] }], []),
      partAt(
        "ports",
        [{ port: 80 }],
        [
          { port: 80, name: "a" },
          { port: 81, name: "b", protocol: "UDP" },
        ],
        [],
      ),
    ],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "Endpoints",
    plural: "endpoints",
    parts: [
      partAt(
        "subsets",
        [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
        [
          {
            addresses: [{ ip: "10.0.0.2" }],
            ports: [
              { port: 80, name: "a" },
              { port: 53, name: "b", protocol: "UDP" },
            ],
          },
        ],
        [],
      ),
    ],
  }),
  kindOf({
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    plural: "controllerrevisions",
    base: { revision: 1 },
    parts: [partAt("revision", 0, 2), fixedAt("data", { a: 1, b: { c: [1, 2] } }, { z: 0 }, {})],
  }),
  kindOf({
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIStorageCapacity",
    plural: "csistoragecapacities",
    base: { storageClassName: "x" },
    parts: [
      partAt("capacity", "1024Mi", "2Gi"),
      partAt("maximumVolumeSize", "1Gi", "0"),
      fixedAt("nodeTopology", { matchLabels: { zone: "a" } }, {}),
    ],
  }),
  kindOf({
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaimTemplate",
    plural: "resourceclaimtemplates",
    base: { spec: { spec: { devices: { requests: [{ name: "a", exactly: { deviceClassName: "x" } }] } } } },
    parts: [fixedAt("spec.metadata.labels", { a: "1" }, {}), fixedAt("spec.spec.devices.constraints", [])],
  }),
  kindOf({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    plural: "leases",
    parts: [
      partAt("spec.holderIdentity", "me", "you"),
      partAt("spec.leaseDurationSeconds", 15, 60),
      partAt("spec.renewTime", "2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.5Z"),
      partAt("spec.leaseTransitions", 0, 1),
    ],
  }),
];
