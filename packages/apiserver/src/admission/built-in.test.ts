import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fields, KubeObject } from "../hooks.ts";
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
  readonly body: KubeObject & { message?: string; spec: Fields; status?: Fields };
  readonly warning: string | null;
}

async function call(method: string, path: string, body: unknown): Promise<Answer> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = {
    method,
    headers: { "content-type": type },
    ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
  };
  const response = await server.fetch(new Request(`http://server${path}`, init));
  const warning = response.headers.get("warning");
  return { code: response.status, body: (await response.json()) as Answer["body"], warning };
}

async function namespace(name: string, labels: object = {}): Promise<string> {
  await call("POST", "/api/v1/namespaces", { metadata: { name, labels } });
  return `/api/v1/namespaces/${name}`;
}

const pod = (name: string, resources: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: "a", image: "a", resources }] },
});

test("limitRanger fills what containers do not say and says so", async () => {
  const path = await namespace("ranges");
  const limits = [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "0.5" }, max: { cpu: "2" } }];
  await call("POST", `${path}/limitranges`, { metadata: { name: "l" }, spec: { limits } });
  const { body } = await call("POST", `${path}/pods`, pod("filled"));
  expect(body.spec["containers"]).toMatchObject([{ resources: { limits: { cpu: "1" }, requests: { cpu: "500m" } } }]);
  expect(body.metadata.annotations).toEqual({
    "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container a; cpu limit for container a",
  });
  const refused = await call("POST", `${path}/pods`, pod("large", { limits: { cpu: "3" } }));
  expect(refused.code).toBe(403);
  expect(refused.body.message).toBe('pods "large" is forbidden: maximum cpu usage per Container is 2, but limit is 3');
});

test("bookings are kept in the quota, not on a dry run, and refuse what is over it", async () => {
  const path = await namespace("quotas");
  const made = await call("POST", `${path}/resourcequotas`, {
    metadata: { name: "q" },
    spec: { hard: { configmaps: "1" } },
  });
  const status = { hard: { configmaps: "1" }, used: { configmaps: "0" } };
  await call("PUT", `${path}/resourcequotas/q/status`, { ...made.body, status });
  await call("POST", `${path}/configmaps?dryRun=All`, { metadata: { name: "dry" } });
  expect((await call("POST", `${path}/configmaps`, { metadata: { name: "one" } })).code).toBe(201);
  const second = await call("POST", `${path}/configmaps`, { metadata: { name: "two" } });
  expect(second.body.message).toBe(
    'configmaps "two" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
  );
  const quota = await call("GET", `${path}/resourcequotas/q`, undefined);
  expect(quota.body.status?.["used"]).toEqual({ configmaps: "1" });
});

test("podSecurity refuses what the level forbids and warns of what another level would", async () => {
  const prefix = "pod-security.kubernetes.io/";
  const path = await namespace("secured", { [`${prefix}enforce`]: "baseline", [`${prefix}warn`]: "restricted" });
  const warned = await call("POST", `${path}/pods`, pod("plain"));
  expect(warned.code).toBe(201);
  expect(warned.warning).toContain('would violate PodSecurity \\"restricted:latest\\"');
  const spec = { hostNetwork: true, containers: [{ name: "a", image: "a" }] };
  const refused = await call("POST", `${path}/pods`, { metadata: { name: "host" }, spec });
  expect(refused.body.message).toBe(
    'pods "host" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
  );
});

test("priority takes the number from the class", async () => {
  const path = await namespace("priorities");
  await call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: "high" }, value: 9 });
  const spec = { containers: [{ name: "a", image: "a" }], priorityClassName: "high" };
  const made = await call("POST", `${path}/pods`, { metadata: { name: "p" }, spec });
  expect(made.body.spec).toMatchObject({ priority: 9, preemptionPolicy: "PreemptLowerPriority" });
  const other = await call("POST", `${path}/pods`, {
    metadata: { name: "q" },
    spec: { ...spec, priorityClassName: "x" },
  });
  expect(other.body.message).toBe('pods "q" is forbidden: no PriorityClass with name x was found');
});
