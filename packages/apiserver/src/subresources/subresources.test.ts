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
  readonly body: KubeObject & { message?: string; spec: Fields; status: Fields };
}

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const request = new Request(`http://server${path}`, { method, headers: { "content-type": type }, ...init });
  const response = await server.fetch(request);
  const text = await response.text();
  return {
    code: response.status,
    body: (text.startsWith("{") ? JSON.parse(text) : { message: text }) as Answer["body"],
  };
}

const pods = "/api/v1/namespaces/default/pods";

async function pod(name: string, more: object = {}): Promise<void> {
  const spec = { containers: [{ name: "a", image: "a" }], ...more };
  expect((await call("POST", pods, { metadata: { name, labels: { app: name } }, spec })).code).toBe(201);
}

test("evict deletes what its budget allows, and counts it", async () => {
  await pod("guarded");
  const conditions = [{ type: "Ready", status: "True" }];
  await call("PATCH", `${pods}/guarded/status`, { status: { phase: "Running", conditions } });
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const made = await call("POST", budgets, {
    metadata: { name: "b" },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "guarded" } } },
  });
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 0,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
  };
  const counted = await call("PUT", `${budgets}/b/status`, { ...made.body, status });
  const eviction = { metadata: { name: "guarded" } };
  expect((await call("POST", `${pods}/guarded/eviction`, eviction)).code).toBe(429);
  await call("PUT", `${budgets}/b/status`, { ...counted.body, status: { ...status, disruptionsAllowed: 1 } });
  expect((await call("POST", `${pods}/guarded/eviction`, eviction)).code).toBe(201);
  expect((await call("GET", `${budgets}/b`)).body.status).toMatchObject({ disruptionsAllowed: 0 });
});

test("bind puts a pod on a node once", async () => {
  await pod("bound");
  const binding = { metadata: { name: "bound" }, target: { kind: "Node", name: "n" } };
  expect((await call("POST", `${pods}/bound/binding`, binding)).code).toBe(201);
  const { body } = await call("GET", `${pods}/bound`);
  expect(body.spec["nodeName"]).toBe("n");
  expect(body.status["conditions"]).toMatchObject([{ type: "PodScheduled", status: "True" }]);
  const again = await call("POST", `${pods}/bound/binding`, binding);
  expect(again.body.message).toContain('pod bound is already assigned to node "n"');
});

test("a binding that is tried, names another pod or finds gates leaves the pod where it is", async () => {
  await pod("free");
  await pod("gated", { schedulingGates: [{ name: "example.test/gate" }] });
  const target = { kind: "Node", name: "n" };
  const bind = async (name: string, metadata: object = {}, query = ""): Promise<number> =>
    (await call("POST", `${pods}/${name}/binding${query}`, { metadata: { name, ...metadata }, target })).code;
  expect(await bind("free", {}, "?dryRun=All")).toBe(201);
  expect(await bind("free", { uid: "other" })).toBe(409);
  expect(await bind("free", { resourceVersion: "1" })).toBe(409);
  expect(await bind("gated")).toBe(409);
  expect((await call("GET", `${pods}/free`)).body.spec["nodeName"]).toBeUndefined();
  expect(await bind("free", { labels: { zone: "a" } })).toBe(201);
  expect((await call("GET", `${pods}/free`)).body.metadata.labels).toEqual({ app: "free", zone: "a" });
});

test("scale reads and writes the replicas of a deployment", async () => {
  const path = "/apis/apps/v1/namespaces/default/deployments";
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } };
  await call("POST", path, {
    metadata: { name: "d" },
    spec: { replicas: 2, selector: { matchLabels: { a: "b" } }, template },
  });
  expect((await call("GET", `${path}/d/scale`)).body).toMatchObject({ kind: "Scale", spec: { replicas: 2 } });
  await call("PATCH", `${path}/d/scale`, { spec: { replicas: 5 } });
  expect((await call("GET", `${path}/d`)).body.spec["replicas"]).toBe(5);
});

test("connect answers as far as a server gets that has no node to ask", async () => {
  await pod("alone");
  await pod("placed", { nodeName: "nowhere" });
  await pod("two", {
    containers: [
      { name: "a", image: "a" },
      { name: "b", image: "b" },
    ],
  });
  expect(await call("GET", `${pods}/alone/log`)).toEqual({ code: 204, body: { message: "" } as Answer["body"] });
  const exec = await call("POST", `${pods}/alone/exec?command=true`);
  expect(exec.body.message).toBe("pod alone does not have a host assigned");
  expect((await call("GET", `${pods}/placed/log`)).body.message).toBe('pods "nowhere" not found');
  expect((await call("GET", `${pods}/two/log`)).body.message).toBe(
    "a container name must be specified for pod two, choose one of: [a b]",
  );
  expect((await call("GET", `${pods}/alone/log?container=x`)).body.message).toBe(
    "container x is not valid for pod alone",
  );
  expect((await call("GET", `${pods}/alone/proxy/`)).body.message).toBe("address not allowed");
  const proxied = await call("GET", "/api/v1/namespaces/default/services/kubernetes:443/proxy/");
  expect(proxied.body.message).toBe('services "kubernetes" not found');
});

test("ephemeral containers come and do not go, resources change in place", async () => {
  await pod("debugged");
  const path = `${pods}/debugged/ephemeralcontainers`;
  const added = await call("PATCH", path, { spec: { ephemeralContainers: [{ name: "d", image: "d" }] } });
  expect(added.code).toBe(200);
  const gone = await call("PATCH", path, { spec: { ephemeralContainers: [] } });
  expect(gone.body.message).toContain('existing ephemeral containers "d" may not be removed');
  await pod("resized", { containers: [{ name: "a", image: "a", resources: { requests: { cpu: "1" } } }] });
  const containers = [{ name: "a", image: "a", resources: { requests: { cpu: "2" } } }];
  const resized = await call("PATCH", `${pods}/resized/resize`, { spec: { containers } });
  expect(resized.code).toBe(200);
  expect(resized.body.spec["containers"]).toMatchObject([{ resources: { requests: { cpu: "2" } } }]);
});
