import { isDeepStrictEqual } from "node:util";
import type { Loose } from "../session.ts";
import { type Samples, selector } from "./sample.ts";

const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nothings"] }];
const webhook = {
  name: "a.example.test",
  clientConfig: { url: "https://127.0.0.1:1/x" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  rules,
};
const matchConstraints = { resourceRules: rules };
/** A request for a certificate, PKCS #10, as PEM in base64. */
export const signingRequest =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIY01JR0RBZ0VBTUNFeERUQUxCZ05WQkFNTUJHcGhibVV4RURBT0JnTlZCQW9NQjNSbGMzUmxjbk13V1RBVApCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJCd05DQUFRZkIzTU95bWNUS08ydFhiTzZzRDZDVFRrbUlwU1NZczBVCjh5WnlQUzdUSkpVQk15ak8wU0xxdDI1bzBSUUpESGU5eHViV0RQb1dkVGJrbk5pdkEvTFBvQUF3Q2dZSUtvWkkKemowRUF3SURTQUF3UlFJZ0JpeUhxT0RXSHFqRkRRVUMxd3ZWb1BEbHZIeDhrUW5lR2hQWVNpOHkwR29DSVFDYwp3S3IvdmFZTUxwLzVZSE9wR0dyeStYdUd4YmliYnNXSkVETHJUM0JPcnc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";

export const cluster: Samples = {
  "apiregistration.k8s.io/APIService": {
    minimal: {
      spec: {
        group: "g.example.test",
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 10,
        service: { namespace: "default", name: "s" },
        insecureSkipTLSVerify: true,
      },
    },
    name: () => "v1.g.example.test",
    changes: [
      { spec: { versionPriority: 0 } },
      { spec: { groupPriorityMinimum: 0 } },
      { spec: { service: { port: 8443 } } },
    ],
    status: { conditions: [{ type: "Available", status: "False", reason: "R" }] },
    settled: (object) => object?.status?.conditions?.[0]?.reason === "ServiceNotFound",
  },
  "certificates.k8s.io/CertificateSigningRequest": {
    minimal: { spec: { request: signingRequest, signerName: "example.test/s", usages: ["client auth"] } },
    changes: [
      { spec: { usages: ["server auth"] } },
      { status: { conditions: [{ type: "Approved", status: "True" }] } },
    ],
  },
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": {
    minimal: { webhooks: [webhook] },
    full: {
      webhooks: [
        {
          ...webhook,
          reinvocationPolicy: "IfNeeded",
          matchConditions: [{ name: "c", expression: "true" }],
          timeoutSeconds: 5,
          failurePolicy: "Ignore",
        },
      ],
    },
    changes: [
      { webhooks: [{ ...webhook, name: "short" }] },
      { webhooks: [{ ...webhook, sideEffects: "Some" }] },
      { webhooks: [{ ...webhook, admissionReviewVersions: ["v9"] }] },
      { webhooks: [{ ...webhook, timeoutSeconds: 50 }] },
      { webhooks: [{ ...webhook, clientConfig: { url: "http://a" } }] },
      { webhooks: [{ ...webhook, matchConditions: [{ name: "c", expression: "1 +" }] }] },
      { webhooks: [webhook, webhook] },
    ],
  },
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": {
    minimal: { webhooks: [webhook] },
    full: {
      webhooks: [
        {
          ...webhook,
          clientConfig: { service: { namespace: "n", name: "s", path: "/p" } },
          objectSelector: selector,
          matchPolicy: "Exact",
        },
      ],
    },
    changes: [
      { webhooks: [{ ...webhook, rules: [{ ...rules[0], operations: [] }] }] },
      { webhooks: [{ ...webhook, failurePolicy: "Nope" }] },
      { webhooks: [{ ...webhook, rules: [{ ...rules[0], resources: ["*", "pods"] }] }] },
    ],
  },
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": {
    minimal: { spec: { matchConstraints, validations: [{ expression: "true" }] } },
    full: {
      spec: {
        matchConstraints,
        failurePolicy: "Ignore",
        validations: [{ expression: "object.x > 1", message: "m", reason: "Invalid" }],
        variables: [{ name: "v", expression: "1" }],
        auditAnnotations: [{ key: "k", valueExpression: "'v'" }],
      },
    },
    changes: [
      { spec: { validations: [{ expression: "1 +" }] } },
      { spec: { failurePolicy: "Nope" } },
      { spec: { validations: [] } },
      { spec: { validations: [{ expression: "true" }, { expression: "1 == 1" }] } },
    ],
    status: { observedGeneration: 1 },
  },
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": {
    minimal: { spec: { policyName: "p.example.test", validationActions: ["Deny"] } },
    changes: [
      { spec: { validationActions: ["Deny", "Warn"] } },
      { spec: { validationActions: [] } },
      { spec: { validationActions: ["Nope"] } },
      { spec: { policyName: "" } },
    ],
  },
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": {
    minimal: {
      spec: {
        matchConstraints,
        reinvocationPolicy: "Never",
        mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }],
      },
    },
    changes: [{ spec: { reinvocationPolicy: "Nope" } }, { spec: { mutations: [] } }],
  },
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": {
    minimal: { spec: { policyName: "p.example.test" } },
    changes: [{ spec: { policyName: "" } }],
  },
  "apiextensions.k8s.io/CustomResourceDefinition": {
    minimal: {
      spec: {
        group: "gen.example.test",
        names: { plural: "things", kind: "Thing" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
    name: () => "things.gen.example.test",
    changes: [
      { spec: { scope: "Cluster" } },
      { spec: { group: "other" } },
      { spec: { names: { shortNames: ["th"] } } },
      { spec: { versions: [] } },
      { spec: { names: { kind: "Other" } } },
    ],
    status: { storedVersions: ["v1", "v2"] },
    settled: ({ metadata, spec, status }) =>
      (metadata?.deletionTimestamp && !metadata.finalizers?.includes("customresourcecleanup.apiextensions.k8s.io")) ||
      (status?.conditions?.some((each: Loose) => each.type === "Established" && each.status === "True") &&
        isDeepStrictEqual(status.acceptedNames, spec.names)),
  },
  "discovery.k8s.io/EndpointSlice": {
    minimal: { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] },
    full: {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true }, nodeName: "n", zone: "z" }],
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
    },
    changes: [{ addressType: "IPv6" }, { ports: [{ port: 80 }] }],
  },
  "events.k8s.io/Event": {
    minimal: {
      eventTime: "2020-01-02T03:04:05.123456Z",
      action: "Act",
      reason: "Because",
      type: "Normal",
      reportingController: "c.test/x",
      reportingInstance: "i",
      regarding: { kind: "Pod", name: "p", namespace: "$NAMESPACE" },
      note: "so",
    },
    changes: [
      { note: "other" },
      { type: "Nope" },
      { series: { count: 2, lastObservedTime: "2020-01-02T03:04:05.000000Z" } },
    ],
  },
  "flowcontrol.apiserver.k8s.io/FlowSchema": {
    minimal: { spec: { priorityLevelConfiguration: { name: "global-default" } } },
    full: {
      spec: {
        priorityLevelConfiguration: { name: "global-default" },
        matchingPrecedence: 900,
        distinguisherMethod: { type: "ByUser" },
        rules: [
          {
            subjects: [{ kind: "User", user: { name: "nobody" } }],
            nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
          },
        ],
      },
    },
    changes: [{ spec: { matchingPrecedence: 20 } }],
    status: { conditions: [{ type: "Dangling", status: "False" }] },
    settled: (object) =>
      object?.status?.conditions?.some(
        (each: Loose) => each.type === "Dangling" && each.message?.startsWith("This FlowSchema"),
      ),
  },
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": {
    minimal: { spec: { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } } },
    full: {
      spec: {
        type: "Limited",
        limited: { limitResponse: { type: "Queue", queuing: { queues: 8, handSize: 2, queueLengthLimit: 5 } } },
      },
    },
    changes: [{ spec: { limited: { nominalConcurrencyShares: 7 } } }],
    status: { conditions: [{ type: "T", status: "True" }] },
  },
  "networking.k8s.io/Ingress": {
    minimal: { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
    full: {
      spec: {
        ingressClassName: "c",
        tls: [{ hosts: ["a.test"], secretName: "t" }],
        rules: [
          {
            host: "a.test",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { name: "http" } } } }],
            },
          },
        ],
      },
    },
    changes: [
      {
        spec: {
          rules: [
            {
              host: "a.test",
              http: {
                paths: [{ path: "x", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
              },
            },
          ],
        },
      },
      { spec: { rules: [{ host: "1.2.3.4" }] } },
      { spec: { defaultBackend: { service: { port: { name: "http" } } } } },
      { spec: { defaultBackend: null } },
    ],
    status: { loadBalancer: { ingress: [{ hostname: "a.test" }] } },
  },
  "networking.k8s.io/IngressClass": {
    minimal: { spec: { controller: "example.test/c" } },
    changes: [
      { spec: { controller: "example.test/d" } },
      { spec: { parameters: { kind: "K", name: "n", scope: "Nope" } } },
    ],
  },
  "networking.k8s.io/IPAddress": {
    minimal: { spec: { parentRef: { resource: "services", namespace: "n", name: "s" } } },
    name: () => "10.97.0.9",
    changes: [{ spec: { parentRef: { name: "t" } } }],
  },
  "networking.k8s.io/NetworkPolicy": {
    minimal: { spec: { podSelector: {} } },
    full: {
      spec: {
        podSelector: selector,
        policyTypes: ["Ingress", "Egress"],
        ingress: [
          {
            from: [{ podSelector: selector }, { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }],
            ports: [{ port: 80 }],
          },
        ],
        egress: [{ ports: [{ port: 1000, endPort: 2000, protocol: "UDP" }] }],
      },
    },
    changes: [
      { spec: { policyTypes: ["Nope"] } },
      { spec: { ingress: [{ from: [{}] }] } },
      { spec: { egress: [{ to: [{ ipBlock: { cidr: "nope" } }] }] } },
    ],
  },
  "networking.k8s.io/ServiceCIDR": {
    minimal: { spec: { cidrs: ["10.98.0.0/24"] } },
    changes: [{ spec: { cidrs: ["10.99.0.0/24"] } }],
    status: {
      conditions: [
        { type: "Ready", status: "True", reason: "R", message: "m", lastTransitionTime: "2020-01-02T03:04:05Z" },
      ],
    },
  },
  "rbac.authorization.k8s.io/ClusterRole": {
    minimal: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
    full: {
      aggregationRule: { clusterRoleSelectors: [selector] },
      rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }],
    },
    changes: [{ rules: [{ apiGroups: [""], resources: ["pods"] }] }, { rules: [{ verbs: ["get"] }] }],
  },
  "rbac.authorization.k8s.io/ClusterRoleBinding": {
    minimal: { roleRef: { kind: "ClusterRole", name: "view", apiGroup: "rbac.authorization.k8s.io" } },
    full: {
      roleRef: { kind: "ClusterRole", name: "view" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", name: "a", namespace: "n" },
      ],
    },
    changes: [
      { roleRef: { name: "edit" } },
      { subjects: [{ kind: "ServiceAccount", name: "a" }] },
      { subjects: [{ kind: "Nope", name: "a" }] },
    ],
  },
  "rbac.authorization.k8s.io/Role": {
    minimal: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
    changes: [
      { rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }] },
      { rules: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] },
    ],
  },
  "rbac.authorization.k8s.io/RoleBinding": {
    minimal: { roleRef: { kind: "Role", name: "r", apiGroup: "rbac.authorization.k8s.io" } },
    full: { roleRef: { kind: "ClusterRole", name: "view" }, subjects: [{ kind: "User", name: "u" }] },
    changes: [{ roleRef: { name: "s" } }, { subjects: [{ kind: "User", name: "" }] }],
  },
  "resource.k8s.io/DeviceClass": {
    minimal: { spec: {} },
    full: { spec: { selectors: [{ cel: { expression: "device.driver == 'd.test'" } }] } },
    changes: [{ spec: { selectors: [{ cel: { expression: "device.driver == 'd.test'" } }] } }],
  },
  "resource.k8s.io/ResourceClaim": {
    minimal: { spec: {} },
    full: { spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } } },
    changes: [{ spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } } }],
    status: {},
  },
  "resource.k8s.io/ResourceClaimTemplate": {
    minimal: { spec: { spec: {} } },
    changes: [{ spec: { spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } } } }],
  },
  "resource.k8s.io/ResourceSlice": {
    minimal: { spec: { driver: "d.test", pool: { name: "p", generation: 1, resourceSliceCount: 1 }, nodeName: "n" } },
    full: {
      spec: {
        driver: "d.test",
        pool: { name: "p", generation: 1, resourceSliceCount: 1 },
        nodeName: "n",
        devices: [{ name: "d", attributes: { a: { string: "x" } } }],
      },
    },
    changes: [{ metadata: { annotations: { changed: "x" } } }],
  },
};
