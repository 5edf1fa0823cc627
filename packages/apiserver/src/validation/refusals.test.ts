import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fields } from "../hooks.ts";
import { type ApiServer, createApiServer } from "../server.ts";

let server: ApiServer;

beforeAll(async () => {
  server = await createApiServer();
});

afterAll(async () => {
  await server.stop();
});

interface Answer {
  readonly code: number;
  readonly message: string;
  readonly body: Fields & { status: Fields };
}

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await server.fetch(
    new Request(`http://server${path}`, { method, headers: { "content-type": type }, ...init }),
  );
  const parsed = (await response.json()) as Answer["body"] & { message?: string };
  return { code: response.status, message: parsed.message ?? "", body: parsed };
}

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const networking = "/apis/networking.k8s.io/v1";
const path = (backend: object): object => ({
  spec: { rules: [{ http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] },
});

const refused: readonly (readonly [path: string, body: object, message: string])[] = [
  [
    "/apis/batch/v1/namespaces/default/cronjobs",
    { spec: { schedule: "CRON_TZ=No/Where * * * * *", jobTemplate: { spec: { template } } } },
    "provided bad location No/Where: unknown time zone No/Where",
  ],
  [
    "/apis/batch/v1/namespaces/default/cronjobs",
    { spec: { schedule: "@daily", jobTemplate: { spec: { selector: { matchLabels: { a: "b" } }, template } } } },
    'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
  ],
  [
    "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities",
    { storageClassName: "A/B" },
    "is invalid: storageClassName: ",
  ],
  [
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    { spec: { maxReplicas: 1, scaleTargetRef: { apiVersion: "a/b/c", kind: "K", name: "n" } } },
    'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ],
  [
    `${networking}/namespaces/default/ingresses`,
    path({ resource: { apiGroup: "A", kind: "", name: "a/b" } }),
    'resource.kind: Required value, spec.rules[0].http.paths[0].backend.resource.name: Invalid value: "a/b"',
  ],
  [
    `${networking}/namespaces/default/ingresses`,
    {
      metadata: { name: "x", annotations: { "kubernetes.io/ingress.class": "one" } },
      spec: { ingressClassName: "other", defaultBackend: { service: { name: "s", port: { number: 1 } } } },
    },
    'annotations.kubernetes.io/ingress.class: Invalid value: "one": must match `ingressClassName` when both are specified',
  ],
  [
    `${networking}/servicecidrs`,
    { spec: { cidrs: ["10.1.0.1/24"] } },
    "must not have bits set beyond the prefix length",
  ],
  [`${networking}/servicecidrs`, { spec: { cidrs: ["2001:DB8::/64"] } }, 'must be in canonical form ("2001:db8::/64")'],
  [
    `${networking}/ipaddresses`,
    { metadata: { name: "010.0.0.1" }, spec: { parentRef: { resource: "services", name: "s" } } },
    'metadata.name: Invalid value: "010.0.0.1": must not have leading 0s',
  ],
  [
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
    {
      spec: {
        policyName: "p",
        validationActions: ["Deny"],
        matchResources: { namespaceSelector: { matchExpressions: [{ key: "a", operator: "X" }] } },
      },
    },
    'spec.matchResources.namespaceSelector.matchExpressions[0].operator: Invalid value: "X"',
  ],
];

for (const [where, body, message] of refused) {
  test(`${where.split("/").at(-1)} are refused: ${message}`, async () => {
    const answer = await call("POST", `${where}?dryRun=All`, { metadata: { name: "x" }, ...body });
    expect(answer.message).toContain(message);
    expect(answer.code).toBe(422);
  });
}

test("amounts in a status are not negative", async () => {
  await call("POST", "/api/v1/namespaces/default/resourcequotas", {
    metadata: { name: "q" },
    spec: { hard: { pods: "1" } },
  });
  const quota = await call("PATCH", "/api/v1/namespaces/default/resourcequotas/q/status", {
    status: { used: { pods: "-1" } },
  });
  expect(quota.message).toContain('status.used[pods]: Invalid value: "-1": must be greater than or equal to 0');
  await call("POST", "/api/v1/nodes", { metadata: { name: "n" } });
  const address = { type: "Hostname", address: "h" };
  const node = await call("PATCH", "/api/v1/nodes/n/status", {
    status: { capacity: { cpu: "-1" }, addresses: [address, address] },
  });
  expect(node.message).toContain('status.capacity.cpu: Invalid value: "-1"');
  expect(node.message).toContain('status.addresses[1]: Duplicate value: {"address":"h","type":"Hostname"}');
});

test("a service that is no load balancer any more has lost its addresses", async () => {
  const services = "/api/v1/namespaces/default/services";
  await call("POST", services, { metadata: { name: "s" }, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  await call("PATCH", `${services}/s/status`, { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } });
  const { body } = await call("PATCH", `${services}/s`, { spec: { type: "ClusterIP" } });
  expect(body.status).toEqual({ loadBalancer: {} });
});

test("a job did not end before it began", async () => {
  const jobs = "/apis/batch/v1/namespaces/default/jobs";
  const [lastTransitionTime, startTime] = ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"];
  await call("POST", jobs, { metadata: { name: "j" }, spec: { template } });
  const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True", lastTransitionTime }));
  await call("PATCH", `${jobs}/j/status`, {
    status: { startTime, completionTime: "2024-01-01T00:00:10Z", conditions },
  });
  const { message } = await call("PATCH", `${jobs}/j/status`, { status: { startTime: "2025-01-01T00:00:00Z" } });
  expect(message).toContain("must be equal to or after `startTime`, status.startTime: ");
});

test("endpoints of a slice have no topology, and namespaces are not found by a field that is none", async () => {
  const slice = await call("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    metadata: { name: "e" },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"], deprecatedTopology: { a: "b" } }],
  });
  expect(slice.body["endpoints"]).toEqual([{ addresses: ["10.0.0.1"], conditions: {} }]);
  const found = await call("GET", "/api/v1/namespaces?fieldSelector=name%3Ddefault");
  expect(found.message).toBe("field label not supported: name");
});

test("a windows pod whose processes are those of its node has the network of the node", async () => {
  const containers = [{ name: "c", image: "i" }];
  const windowsOptions = { hostProcess: true };
  const spec = { containers, os: { name: "windows" }, hostNetwork: true, securityContext: { windowsOptions } };
  const pods = "/api/v1/namespaces/default/pods?dryRun=All";
  expect((await call("POST", pods, { metadata: { name: "p" }, spec })).code).toBe(201);
  const users = { windowsOptions, runAsUser: 1, appArmorProfile: { type: "RuntimeDefault" } };
  const refusedPod = await call("POST", pods, { metadata: { name: "p" }, spec: { ...spec, securityContext: users } });
  expect(refusedPod.message).toContain(
    "[spec.securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod, spec.securityContext.runAsUser: ",
  );
  const tolerations = [{ key: "a", operator: "Lt", value: "5" }];
  const compared = await call("POST", pods, { metadata: { name: "p" }, spec: { containers, tolerations } });
  expect(compared.message).toContain('supported values: "Equal", "Exists", "Lt", "Gt"');
});

test("a patch cannot change the version, and a body has to be of the kind of its path", async () => {
  await call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "patched" } });
  const path = "/api/v1/namespaces/default/configmaps/patched";
  expect((await call("PATCH", path, { apiVersion: "v2" })).code).toBe(422);
  const status = await call("POST", "/api/v1/namespaces/default/configmaps", {
    apiVersion: "meta.k8s.io/v1",
    kind: "Status",
  });
  expect(status.message).toContain("the object is a Status of meta.k8s.io/v1");
});

test("partial metadata has no annotations that only a version has", async () => {
  await call("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", {
    metadata: { name: "h", annotations: { own: "1" } },
    spec: {
      maxReplicas: 2,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      metrics: [
        { type: "Resource", resource: { name: "memory", target: { type: "Utilization", averageUtilization: 5 } } },
      ],
    },
  });
  const url = "http://server/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/h";
  const accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
  const response = await server.fetch(new Request(url, { headers: { accept } }));
  expect(((await response.json()) as { metadata: Fields }).metadata["annotations"]).toEqual({ own: "1" });
});

test("system priority classes cannot be deleted", async () => {
  const gone = await call("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical");
  expect(gone.message).toContain("this is a system priority class and cannot be deleted");
});
