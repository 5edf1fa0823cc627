/**
 * A typical object of each built-in kind that can be owned, written as people write them: defaults left out, quantities
 * in other spellings than the server's, lists whose items the server completes.
 */
import { of } from "binnacle";
import * as kinds from "binnacle/resources";

const metadata = { name: "typical", namespace: "default" };
const cluster = { name: "typical" };
const labels = { app: "typical" };
const selector = { matchLabels: labels };

const pod = {
  serviceAccountName: "default",
  containers: [
    {
      name: "web",
      image: "web:1",
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }],
      env: [
        { name: "A", value: "" },
        { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
        { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
      ],
      resources: { limits: { cpu: "1000m", memory: "1024Mi" }, requests: { cpu: 0.5, memory: "0.5Gi" } },
      readinessProbe: { httpGet: { path: "/", port: 80 } },
      volumeMounts: [
        { name: "data", mountPath: "/data" },
        { name: "config", mountPath: "/config", readOnly: true },
      ],
      securityContext: { capabilities: { drop: ["ALL"] } },
    },
  ],
  tolerations: [
    { key: "a", operator: "Exists" },
    { key: "b", value: "c" },
  ],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: selector },
  ],
  volumes: [
    { name: "data", emptyDir: {} },
    { name: "config", configMap: { name: "typical", items: [{ key: "a", path: "a" }] } },
    { name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
    { name: "cache", emptyDir: { sizeLimit: "0.5Gi" } },
  ],
};
const template = { metadata: { labels }, spec: pod };
const jobTemplate = { spec: { ...pod, restartPolicy: "Never" } };
const webhook = {
  name: "typical.binnacle.dev",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  failurePolicy: "Ignore",
  clientConfig: { service: { namespace: "default", name: "typical" } },
  objectSelector: { matchLabels: { never: "there" } },
  rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
};
const matchResources = {
  objectSelector: { matchLabels: { never: "there" } },
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
};
const request = { exactly: { deviceClassName: "typical" } };

export const typicalObjects = [
  of(kinds.APIService, {
    metadata: { name: "v1.typical.binnacle.dev" },
    spec: {
      group: "typical.binnacle.dev",
      version: "v1",
      groupPriorityMinimum: 100,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service: { namespace: "default", name: "typical" },
    },
  }),
  of(kinds.CSIDriver, { metadata: cluster, spec: { tokenRequests: [{ audience: "a" }] } }),
  of(kinds.CSINode, { metadata: cluster, spec: { drivers: [{ name: "d", nodeID: "n" }] } }),
  of(kinds.CSIStorageCapacity, { metadata, storageClassName: "typical", capacity: "1024Mi" }),
  of(kinds.ClusterRole, {
    metadata: cluster,
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] }],
  }),
  of(kinds.ClusterRoleBinding, {
    metadata: cluster,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "typical" },
    subjects: [
      { kind: "ServiceAccount", namespace: "default", name: "typical" },
      { kind: "User", name: "jane" },
    ],
  }),
  of(kinds.ConfigMap, { metadata: { ...metadata, labels, annotations: { a: "" } }, data: { a: "1", b: "" } }),
  of(kinds.ControllerRevision, { metadata, revision: 1, data: { a: 1 } }),
  of(kinds.CronJob, {
    metadata,
    spec: { schedule: "0 3 * * *", suspend: true, jobTemplate: { spec: { template: jobTemplate } } },
  }),
  of(kinds.CustomResourceDefinition, {
    metadata: { name: "typicals.typical.example.com" },
    spec: {
      group: "typical.example.com",
      names: { kind: "Typical", plural: "typicals" },
      scope: "Namespaced",
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } },
          additionalPrinterColumns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
        },
      ],
    },
  }),
  of(kinds.DaemonSet, { metadata, spec: { selector, template } }),
  of(kinds.Deployment, { metadata, spec: { selector, template } }),
  of(kinds.DeviceClass, {
    metadata: cluster,
    spec: { selectors: [{ cel: { expression: 'device.driver == "x"' } }] },
  }),
  of(kinds.EndpointSlice, {
    metadata,
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"] }],
    ports: [{ port: 80 }],
  }),
  of(kinds.Endpoints, {
    metadata: { ...metadata, name: "alone" }, // those of the Service's name belong to the server's controller
    subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
  }),
  of(kinds.FlowSchema, {
    metadata: cluster,
    spec: {
      priorityLevelConfiguration: { name: "typical" },
      rules: [
        {
          subjects: [{ kind: "User", user: { name: "jane" } }],
          resourceRules: [
            { verbs: ["get"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] },
          ],
        },
      ],
    },
  }),
  of(kinds.HorizontalPodAutoscaler, {
    metadata,
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "typical" },
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "1000m" } } },
      ],
    },
  }),
  of(kinds.IPAddress, {
    metadata: { name: "10.0.0.200" },
    spec: { parentRef: { resource: "services", name: "typical", namespace: "default" } },
  }),
  of(kinds.Ingress, {
    metadata,
    spec: {
      rules: [
        {
          host: "a.example.com",
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "typical", port: { number: 80 } } } }],
          },
        },
      ],
      tls: [{ hosts: ["a.example.com"] }],
    },
  }),
  of(kinds.IngressClass, {
    metadata: cluster,
    spec: { controller: "example.com/x", parameters: { apiGroup: "example.com", kind: "X", name: "x" } },
  }),
  of(kinds.Job, { metadata, spec: { suspend: true, template: jobTemplate } }),
  of(kinds.Lease, { metadata, spec: { holderIdentity: "a", leaseDurationSeconds: 15 } }),
  of(kinds.LimitRange, {
    metadata,
    spec: { limits: [{ type: "Container", max: { cpu: "4000m", memory: "8192Mi" } }] },
  }),
  of(kinds.MutatingAdmissionPolicy, {
    metadata: cluster,
    spec: {
      failurePolicy: "Ignore",
      reinvocationPolicy: "Never",
      matchConstraints: matchResources,
      mutations: [
        {
          patchType: "JSONPatch",
          jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels/x", value: "y"}]' },
        },
      ],
    },
  }),
  of(kinds.MutatingAdmissionPolicyBinding, { metadata: cluster, spec: { policyName: "typical" } }),
  of(kinds.MutatingWebhookConfiguration, { metadata: cluster, webhooks: [webhook] }),
  of(kinds.Namespace, { metadata: { name: "typical", labels } }),
  of(kinds.NetworkPolicy, {
    metadata,
    spec: {
      podSelector: {},
      ingress: [{ ports: [{ port: 80 }], from: [{ podSelector: selector }] }],
      egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }],
    },
  }),
  of(kinds.Node, { metadata: { name: "typical", labels }, spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }),
  of(kinds.PersistentVolume, {
    metadata: cluster,
    spec: {
      capacity: { storage: "1024Mi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: "/tmp/x" },
      storageClassName: "typical",
    },
  }),
  of(kinds.PersistentVolumeClaim, {
    metadata,
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "2048Mi" } },
      storageClassName: "other",
    },
  }),
  of(kinds.Pod, { metadata: { ...metadata, labels: { alone: "yes" } }, spec: pod }),
  of(kinds.PodDisruptionBudget, { metadata, spec: { minAvailable: "50%", selector } }),
  of(kinds.PodTemplate, { metadata, template }),
  of(kinds.PriorityClass, { metadata: cluster, value: 1000 }),
  of(kinds.PriorityLevelConfiguration, {
    metadata: cluster,
    spec: { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } },
  }),
  of(kinds.ReplicaSet, {
    metadata,
    spec: { selector: { matchLabels: { rs: "a" } }, template: { metadata: { labels: { rs: "a" } }, spec: pod } },
  }),
  of(kinds.ReplicationController, { metadata, spec: { template: { metadata: { labels: { rc: "a" } }, spec: pod } } }),
  of(kinds.ResourceClaim, { metadata, spec: { devices: { requests: [{ name: "a", ...request }] } } }),
  of(kinds.ResourceClaimTemplate, {
    metadata,
    spec: { spec: { devices: { requests: [{ name: "a", ...request }] } } },
  }),
  of(kinds.ResourceQuota, { metadata, spec: { hard: { "requests.cpu": "10000m", pods: 1000 } } }),
  of(kinds.ResourceSlice, {
    metadata: cluster,
    spec: {
      driver: "d.example.com",
      pool: { name: "p", generation: 1, resourceSliceCount: 1 },
      allNodes: true,
      devices: [{ name: "gpu", capacity: { memory: { value: "1024Mi" } }, attributes: { a: { string: "b" } } }],
    },
  }),
  of(kinds.Role, { metadata, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }),
  of(kinds.RoleBinding, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "typical" },
    subjects: [{ kind: "Group", name: "readers" }],
  }),
  of(kinds.RuntimeClass, { metadata: cluster, handler: "typical", overhead: { podFixed: { cpu: "1000m" } } }),
  of(kinds.Secret, { metadata, data: { x: "eA==" }, stringData: { a: "secret", b: "" } }),
  of(kinds.Service, { metadata, spec: { selector: labels, ports: [{ port: 80 }] } }),
  of(kinds.ServiceAccount, { metadata, secrets: [{ name: "typical" }], imagePullSecrets: [{ name: "pull" }] }),
  of(kinds.ServiceCIDR, { metadata: cluster, spec: { cidrs: ["192.168.255.0/24"] } }),
  of(kinds.StatefulSet, {
    metadata,
    spec: {
      serviceName: "typical",
      selector: { matchLabels: { sts: "a" } },
      template: { metadata: { labels: { sts: "a" } }, spec: { ...pod, volumes: pod.volumes.slice(1) } },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
        },
      ],
    },
  }),
  of(kinds.StorageClass, { metadata: cluster, provisioner: "example.com/x", mountOptions: ["ro"] }),
  of(kinds.ValidatingAdmissionPolicy, {
    metadata: cluster,
    spec: { failurePolicy: "Ignore", matchConstraints: matchResources, validations: [{ expression: "true" }] },
  }),
  of(kinds.ValidatingAdmissionPolicyBinding, {
    metadata: cluster,
    spec: { policyName: "typical", validationActions: ["Warn"] },
  }),
  of(kinds.ValidatingWebhookConfiguration, { metadata: cluster, webhooks: [webhook] }),
  of(kinds.VolumeAttachment, {
    metadata: cluster,
    spec: { attacher: "example.com", nodeName: "typical", source: { persistentVolumeName: "typical" } },
  }),
  of(kinds.VolumeAttributesClass, { metadata: cluster, driverName: "example.com/x", parameters: { iops: "1" } }),
] as const;

/** Kinds that nobody owns: answers to a question, reports of what happened, and what has no storage of its own. */
export const notOwned: ReadonlySet<string> = new Set([
  "Binding",
  "CertificateSigningRequest", // refused by admission in another's name, and gone after an hour
  "ComponentStatus",
  "CoreEvent",
  "Event",
  "HorizontalPodAutoscalerV1", // the same objects as HorizontalPodAutoscaler
  "LocalSubjectAccessReview",
  "SelfSubjectAccessReview",
  "SelfSubjectReview",
  "SelfSubjectRulesReview",
  "SubjectAccessReview",
  "TokenReview",
]);
