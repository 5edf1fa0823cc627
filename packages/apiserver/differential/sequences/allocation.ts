/** What the server allocates or reserves: addresses and ports of services, labels of jobs, gates of pods, scales. */
import type { Case } from "../case.ts";
import type { Session } from "../session.ts";

const merge = { "content-type": "application/merge-patch+json" };
const strategic = { "content-type": "application/strategic-merge-patch+json" };

interface Step {
  /** `POST`, `PATCH` and so on; a patch is a merge patch. */
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends the steps one after the other, each with its number. */
export async function walk(session: Session, steps: readonly Step[]): Promise<void> {
  for (const [index, { method, path, body, headers }] of steps.entries()) {
    await session.send(`${index} ${method}`, method, path, {
      ...(body === undefined ? {} : { body }),
      ...(method === "PATCH" ? { headers: { ...merge, ...headers } } : headers && { headers }),
    });
  }
}

function service(name: string, spec: object): object {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
}

const newServices: readonly (readonly [name: string, spec: object])[] = [
  ["plain", {}],
  ["node", { type: "NodePort", ports: [{ port: 80, nodePort: 31234 }] }],
  ["same-port", { type: "NodePort", ports: [{ port: 80, nodePort: 31234 }] }],
  ["low-port", { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }],
  ["local", { type: "LoadBalancer", loadBalancerClass: "example.test/a", externalTrafficPolicy: "Local" }],
  ["given", { clusterIP: "10.96.77.77" }],
  ["same-address", { clusterIP: "10.96.77.77" }],
  ["outside", { clusterIP: "11.0.0.1" }],
  ["dual", { ipFamilyPolicy: "RequireDualStack" }],
  ["six", { ipFamilies: ["IPv6"] }],
];

const changedServices: readonly (readonly [name: string, spec: object])[] = [
  ["plain", { externalIPs: ["127.0.0.1"] }],
  ["node", { ports: [{ port: 80, nodePort: 99 }] }],
  ["node", { type: "ClusterIP" }],
  ["local", { healthCheckNodePort: 32000 }],
  ["local", { type: "ClusterIP" }],
];

const containers = [{ name: "c", image: "i" }];

export const allocation: readonly Case[] = [
  {
    name: "services allocated",
    run: async (session) => {
      const path = `${await session.createNamespace()}/services`;
      await walk(session, [
        ...newServices.map(([name, spec]) => ({ method: "POST", path, body: service(name, spec) })),
        ...changedServices.map(([name, spec]) => ({ method: "PATCH", path: `${path}/${name}`, body: { spec } })),
      ]);
    },
  },
  {
    name: "kept by the server",
    run: async (session) => {
      const core = await session.createNamespace();
      const inGroup = (group: string): string => `/apis/${group}/namespaces/${session.slug}`;
      const [jobs, sets] = [`${inGroup("batch/v1")}/jobs`, `${inGroup("apps/v1")}/statefulsets`];
      const selector = { matchLabels: { a: "b" } };
      const template = { metadata: { labels: { a: "b" } }, spec: { containers } };
      const scale = `${sets}/s/scale?fieldManager=scaler`;
      const gated = { containers, schedulingGates: [{ name: "example.test/gate" }], nodeSelector: { a: "b" } };
      const apply = { "content-type": "application/apply-patch+yaml" };
      const scaled = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "s" }, spec: { replicas: 3 } };
      await walk(session, [
        {
          method: "POST",
          path: jobs,
          body: {
            apiVersion: "batch/v1",
            kind: "Job",
            metadata: { name: "j" },
            spec: { template: { spec: { restartPolicy: "Never", containers } } },
          },
        },
        { method: "PATCH", path: `${jobs}/j`, body: { spec: { parallelism: 2 } } },
        {
          method: "POST",
          path: sets,
          body: {
            apiVersion: "apps/v1",
            kind: "StatefulSet",
            metadata: { name: "s" },
            spec: { replicas: 2, selector, template },
          },
        },
        { method: "PATCH", path: scale, body: { spec: { replicas: 5 } } },
        { method: "PATCH", path: scale, body: { spec: { replicas: 0 } } },
        { method: "GET", path: `${sets}/s` },
        { method: "PATCH", path: scale, body: { spec: { replicas: 4 } } },
        { method: "GET", path: `${sets}/s` },
        { method: "PATCH", path: scale, body: { spec: { replicas: 0 } } },
        { method: "PATCH", path: `${sets}/s/scale?fieldManager=other`, body: scaled, headers: apply },
        {
          method: "POST",
          path: `${core}/pods`,
          body: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: gated },
        },
        { method: "PATCH", path: `${core}/pods/p`, body: { spec: { nodeSelector: { a: "c" } } } },
        { method: "PATCH", path: `${core}/pods/p`, body: { spec: { nodeSelector: { c: "d" }, schedulingGates: [] } } },
        { method: "PATCH", path: `${core}/pods/p`, body: { spec: { nodeSelector: { e: "f" } } } },
        ...["i", "j"].map((image) => ({
          method: "PATCH",
          path: `${core}/pods/p/ephemeralcontainers`,
          body: { spec: { ephemeralContainers: [{ name: "e", image }] } },
          headers: strategic,
        })),
        {
          method: "POST",
          path: `${core}/events`,
          body: {
            apiVersion: "v1",
            kind: "Event",
            metadata: { name: "e" },
            involvedObject: { kind: "Pod", name: "p", namespace: session.slug },
            reason: "Seen",
            message: "m",
            type: "Normal",
          },
        },
        { method: "GET", path: `${inGroup("events.k8s.io/v1")}/events/e` },
        ...Object.entries<object>({
          tls: { "tls.crt": "a", "tls.key": "b" },
          dockerconfigjson: { ".dockerconfigjson": "x" },
          "service-account-token": {},
        }).map(([type, stringData]) => ({
          method: "POST",
          path: `${core}/secrets`,
          body: {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { name: type },
            type: `kubernetes.io/${type}`,
            stringData,
          },
        })),
        {
          method: "POST",
          path: `${inGroup("networking.k8s.io/v1")}/networkpolicies`,
          body: {
            apiVersion: "networking.k8s.io/v1",
            kind: "NetworkPolicy",
            metadata: { name: "n" },
            spec: {
              podSelector: {},
              ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/8", "10.1.0.0/16"] } }] }],
            },
          },
        },
        {
          method: "POST",
          path: `${inGroup("rbac.authorization.k8s.io/v1")}/rolebindings`,
          body: {
            apiVersion: "rbac.authorization.k8s.io/v1",
            kind: "RoleBinding",
            metadata: { name: "r" },
            roleRef: { kind: "Role", name: "r" },
            subjects: [{ kind: "ServiceAccount", name: "s" }],
          },
        },
      ]);
    },
  },
  {
    name: "older yaml",
    run: async (session) => {
      const path = `${await session.createNamespace()}/configmaps`;
      const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n";
      const texts = [
        "  name: a\ndata:\n  a: yes\n",
        "  name: b\ndata:\n  a: b\n  a: c\n",
        "  name: c\ndata: {a: 'b'}\n---\nmore: 1\n",
        "  name: d\nimmutable: off\n",
        "  name: e\n  generation: 010\n",
        "  name: f\ndata:\n\ta: b\n",
      ];
      await walk(
        session,
        texts.flatMap((text) =>
          ["", "?fieldValidation=Strict&dryRun=All"].map((query) => ({
            method: "POST",
            path: path + query,
            body: head + text,
            headers: { "content-type": "application/yaml" },
          })),
        ),
      );
      await walk(session, [
        { method: "GET", path: `${path}?limit=1&resourceVersion=0` },
        { method: "GET", path: "/api/v1/configmaps/a" },
        { method: "POST", path, body: '{"metadata":{"name":"g"},"data":{"a":"\\ud800"}}' },
      ]);
    },
  },
];
