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
  readonly warning: string | null;
  readonly body: KubeObject & { message?: string; spec: Fields; status: Fields };
}

async function call(method: string, path: string, body?: unknown, type?: string): Promise<Answer> {
  const usual = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const init = body === undefined ? {} : { body: text };
  const headers = { "content-type": type ?? usual };
  const response = await server.fetch(new Request(`http://server${path}`, { method, headers, ...init }));
  const warning = response.headers.get("warning");
  return { code: response.status, warning, body: (await response.json()) as Answer["body"] };
}

const core = "/api/v1/namespaces/default";

test("an immutable secret says so before what else is wrong, and a key without a value is a key", async () => {
  const metadata = { name: "login" };
  const type = "kubernetes.io/basic-auth";
  await call("POST", `${core}/secrets`, { metadata, type, immutable: true, data: { username: "YQ==" } });
  const emptied = await call("PATCH", `${core}/secrets/login`, { data: { username: null } });
  expect(emptied.body.message).toContain(
    "[data: Forbidden: field is immutable when `immutable` is set, data[username]: Required value",
  );
  const blank = await call("PUT", `${core}/secrets/login`, {
    metadata,
    type,
    immutable: true,
    data: { username: null },
  });
  expect(blank.body.message).not.toContain("Required value");
});

test("containers that run as processes of their node need its network", async () => {
  const windowsOptions = { hostProcess: true };
  const containers = [
    { name: "a", image: "a" },
    { name: "b", image: "b", securityContext: { windowsOptions: { hostProcess: false } } },
  ];
  const spec = { containers, securityContext: { windowsOptions } };
  const { body } = await call("POST", `${core}/pods?dryRun=All`, { metadata: { name: "p" }, spec });
  expect(body.message).toContain("hostNetwork must be true if pod contains any hostProcess containers");
  expect(body.message).toContain("pod hostProcess value must be identical if both are specified, was true");
  expect(body.message).toContain("then all containers must be HostProcess containers");
});

test("the one address of a pod counts before the list of them", async () => {
  const spec = { containers: [{ name: "a", image: "a" }] };
  await call("POST", `${core}/pods`, { metadata: { name: "addressed" }, spec });
  const first = await call("PATCH", `${core}/pods/addressed/status`, { status: { podIP: "10.0.0.5" } });
  expect(first.body.status["podIPs"]).toEqual([{ ip: "10.0.0.5" }]);
  const other = await call("PATCH", `${core}/pods/addressed/status`, { status: { podIPs: [{ ip: "nothing" }] } });
  expect(other.body.status["podIPs"]).toEqual([{ ip: "10.0.0.5" }]);
});

test("a port of a service keeps the port of its node by its name", async () => {
  const spec = { type: "NodePort", ports: [{ port: 80 }] };
  const made = await call("POST", `${core}/services`, { metadata: { name: "kept" }, spec });
  const [{ nodePort }] = made.body.spec["ports"] as [{ nodePort: number }];
  const changed = await call("PATCH", `${core}/services/kept`, { spec: { ports: [{ port: 81 }] } });
  expect(changed.body.spec["ports"]).toMatchObject([{ port: 81, nodePort }]);
});

test("a pod is resized on a node that is there, to what the node has", async () => {
  const containers = [{ name: "a", image: "a", resources: { requests: { cpu: "100m" } } }];
  await call("POST", `${core}/pods`, { metadata: { name: "resized" }, spec: { containers, nodeName: "small" } });
  const to = (cpu: string): Promise<Answer> => {
    const larger = [{ ...containers[0], resources: { requests: { cpu } } }];
    const type = "application/strategic-merge-patch+json";
    return call("PATCH", `${core}/pods/resized/resize`, { spec: { containers: larger } }, type);
  };
  expect((await to("200m")).body.message).toBe('pods "resized" is forbidden: node "small" not found');
  await call("POST", "/api/v1/nodes", { metadata: { name: "small" }, status: { capacity: { cpu: "1" } } });
  expect((await to("1500m")).body.message).toContain("cpu, requested: 1500, allocatable: 1000");
  expect((await to("200m")).code).toBe(200);
});

test("versions of a definition: defaults, managers and warnings", async () => {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const fields = (a: object): object => ({
    type: "object",
    properties: { spec: { type: "object", properties: { a } } },
  });
  const version = (name: string, a: object, more: object): object => ({
    name,
    served: true,
    storage: false,
    schema: { openAPIV3Schema: fields(a) },
    ...more,
  });
  const versions = [
    version("v1", { type: "string", default: "d" }, { storage: true }),
    version("v1alpha1", { type: "string" }, { deprecated: true, deprecationWarning: "goes" }),
    version("v2", { type: "string" }, { served: false }),
  ];
  const names = { plural: "parts", kind: "Part" };
  const spec = { group: "edges.test", names, scope: "Namespaced", versions };
  await call("POST", definitions, { metadata: { name: "parts.edges.test" }, spec });
  while ((await server.fetch(new Request("http://server/apis/edges.test/v1"))).status !== 200) await Bun.sleep(1);
  const at = (name: string): string => `/apis/edges.test/${name}/namespaces/default/parts`;
  const part = { kind: "Part", metadata: { name: "p" }, spec: {} };
  await call("POST", at("v1alpha1"), { ...part, apiVersion: "edges.test/v1alpha1" });
  expect((await call("GET", `${at("v1")}/p`)).body.spec).toEqual({ a: "d" });
  expect((await call("PATCH", `${at("v1alpha1")}/p/status`, {})).warning).toBe('299 - "goes"');
  const entry = { operation: "Update", fieldsType: "FieldsV1", fieldsV1: { "f:spec": { "f:a": {} } } };
  const managedFields = ["v2", "v9"].map((name) => ({ ...entry, manager: name, apiVersion: `edges.test/${name}` }));
  const changed = await call("PATCH", `${at("v1")}/p`, { metadata: { managedFields } });
  expect(changed.body.metadata.managedFields).toBeUndefined();
  const other = await call("POST", at("v1"), { ...part, apiVersion: "edges.test/v1", kind: "Whole" });
  expect(other.body.message).toBe('Whole.edges.test "p" is invalid: kind: Invalid value: "Whole": must be Part');
  const endless = `{"apiVersion":"edges.test/v1","kind":"Part","metadata":{"name":"q"},"spec":{"a":1e400}}`;
  expect((await call("POST", at("v1"), endless)).body.message).toEndWith("a number exceeds the range of a float64");
});

test("bodies whose version has an empty group, or none but a group", async () => {
  const map = { kind: "ConfigMap", metadata: { name: "versioned" } };
  expect((await call("POST", `${core}/configmaps?dryRun=All`, { ...map, apiVersion: "/v1" })).code).toBe(201);
  const { body } = await call("POST", `${core}/configmaps?dryRun=All`, { ...map, apiVersion: "v1/" });
  expect(body.message).toStartWith("the API version in the data (v1/) does not match the expected API version (v1)");
});
