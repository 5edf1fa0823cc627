import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiServer, createApiServer } from "../server.ts";

let server: ApiServer;

beforeAll(async () => {
  server = await createApiServer();
  await send("POST", "/api/v1/namespaces", '{"metadata":{"name":"n"}}');
  const template = '{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}';
  const spec = `{"selector":{"matchLabels":{"a":"b"}},"template":${template}}`;
  await send("POST", deployments, `{"metadata":{"name":"d"},"spec":${spec}}`);
  await send("POST", "/api/v1/namespaces/n/configmaps", '{"metadata":{"name":"m"}}');
});

afterAll(async () => {
  await server.stop();
});

const deployments = "/apis/apps/v1/namespaces/n/deployments";

interface Answer {
  readonly code: number;
  readonly message: string;
  readonly warning: string;
  readonly body: { readonly metadata?: { readonly ownerReferences?: unknown[] } };
}

async function send(method: string, path: string, body?: string, type = "application/json"): Promise<Answer> {
  const init = body === undefined ? {} : { body };
  const answer = await server.fetch(
    new Request(`http://server${path}`, { method, headers: { "content-type": type }, ...init }),
  );
  const json = (await answer.json()) as { message?: string };
  const warning = answer.headers.get("warning") ?? "";
  return { code: answer.status, message: json.message ?? "", warning, body: json as Answer["body"] };
}

const merge = "application/merge-patch+json";

test("a merge patch of a built-in kind takes integers only as Go spells them", async () => {
  const { code, message } = await send("PATCH", `${deployments}/d`, '{"spec":{"replicas":1e2}}', merge);
  expect(code).toBe(422);
  expect(message).toContain("cannot unmarshal number 1e2");
});

test("a JSON patch keeps the spelling of numbers, and one without any is applied", async () => {
  const type = "application/json-patch+json";
  const patch = (value: string): string => `[{"op":"add","path":"/spec/replicas","value":${value}}]`;
  expect((await send("PATCH", `${deployments}/d`, patch("2.0"), type)).code).toBe(422);
  expect((await send("PATCH", `${deployments}/d`, patch("2"), type)).code).toBe(200);
});

test("a patch that is nested too deeply is refused before anything recurses", async () => {
  const deep = `${'{"a":'.repeat(11_000)}1${"}".repeat(11_000)}`;
  for (const type of [merge, "application/strategic-merge-patch+json", "application/apply-patch+yaml"]) {
    const { code, message } = await send("PATCH", `${deployments}/d?fieldManager=m`, deep, type);
    expect({ code, message }).toEqual({ code: 400, message: expect.stringContaining("exceeded max depth") });
  }
});

test("an operation of another type is told apart from one that fails", async () => {
  const type = "application/json-patch+json";
  const { code, message } = await send("PATCH", `${deployments}/d`, '[{"op":1,"path":"/spec"}]', type);
  expect({ code, message }).toEqual({
    code: 400,
    message: "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
  });
  expect((await send("PATCH", `${deployments}/d`, '[{"op":"nope","path":"/spec"}]', type)).code).toBe(422);
});

test("a patch whose result has no readable kind is refused", async () => {
  for (const type of [merge, "application/strategic-merge-patch+json"])
    for (const body of ['{"kind":1}', '{"apiVersion":{}}'])
      expect((await send("PATCH", `${deployments}/d`, body, type)).code).toBe(422);
  const whole = '[{"op":"replace","path":"","value":[]}]';
  const { code, message } = await send("PATCH", `${deployments}/d`, whole, "application/json-patch+json");
  expect({ code, message }).toEqual({ code: 422, message: expect.stringContaining("it is a JSON array") });
});

test("a patch that repeats an owner stores it once, and warns", async () => {
  const owner = '{"apiVersion":"v1","kind":"K","name":"n","uid":"u"}';
  const body = `{"metadata":{"ownerReferences":[${owner},${owner}]}}`;
  const answer = await send("PATCH", "/api/v1/namespaces/n/configmaps/m", body, merge);
  expect(answer.body.metadata?.ownerReferences).toHaveLength(1);
  expect(answer.warning).toContain("contains duplicate entries after mutating admission happens");
});

test("strict decoding of a patch names repeated fields before unknown ones", async () => {
  const body = '{"nope":1,"nope":2,"metadata":{"labels":{}}}';
  const { warning } = await send("PATCH", "/api/v1/namespaces/n/configmaps/m", body, merge);
  expect(warning).toBe(String.raw`299 - "duplicate field \"nope\"", 299 - "unknown field \"nope\""`);
});

test("component statuses are computed", async () => {
  expect((await send("GET", "/api/v1/componentstatuses")).body).toMatchObject({
    items: [{ metadata: { name: "controller-manager" } }, { metadata: { name: "etcd-0" } }, {}],
  });
  const one = await send("GET", "/api/v1/componentstatuses/etcd-0");
  expect(one.body).toMatchObject({ conditions: [{ type: "Healthy", status: "True", message: "ok" }] });
  expect((await send("GET", "/api/v1/componentstatuses/none")).code).toBe(404);
});

test("objects of built-in kinds have no path without a namespace", async () => {
  for (const method of ["PUT", "DELETE"]) {
    expect((await send(method, "/api/v1/configmaps/m", method === "PUT" ? "{}" : undefined)).code).toBe(404);
  }
  const nameless = await send("DELETE", "/api/v1/namespaces//configmaps/m");
  expect(nameless).toMatchObject({ code: 400, message: "Namespace parameter required." });
  const { message } = await send("POST", "/api/v1/namespaces//configmaps", '{"metadata":{"name":"a"}}');
  expect(message).toBe('ConfigMap "a" is invalid: metadata.namespace: Required value');
});

test("an empty policy of propagation is not the default one", async () => {
  const { code } = await send("DELETE", "/api/v1/namespaces/n/configmaps/m?propagationPolicy=&dryRun=All");
  expect(code).toBe(422);
});

test("numbers in another spelling stay numbers where any JSON may stand", async () => {
  const revisions = "/apis/apps/v1/namespaces/n/controllerrevisions";
  const kind = '"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"}';
  const data = '"data":{"a":1.0,"b":[1e2,2.50],"c":{"d":9223372036854775807}}';
  const numbers = { a: 1, b: [100, 2.5], c: { d: Number("9223372036854775807") } };
  await send("POST", revisions, `{${kind},"revision":1,${data}}`);
  for (const [method, body, type] of [
    ["PUT", `{${kind},"revision":2,${data}}`, undefined],
    ["PATCH", '{"revision":3}', merge],
    ["PATCH", '{"revision":4}', "application/strategic-merge-patch+json"],
  ] as const) {
    const { code, body: written } = await send(method, `${revisions}/r`, body, type);
    expect([method, code, (written as { readonly data?: unknown }).data]).toEqual([method, 200, numbers]);
  }
});

test("a definition may have numbers in another spelling in its defaults", async () => {
  const names = '{"kind":"Gauge","plural":"gauges","singular":"gauge","listKind":"GaugeList"}';
  const field = '{"type":"number","maximum":1e2,"enum":[1.0,2.50]}';
  const spec = `{"type":"object","default":{"f":2.50},"properties":{"f":${field}}}`;
  const schema = `{"openAPIV3Schema":{"type":"object","properties":{"spec":${spec}}}}`;
  const versions = `[{"name":"v1","served":true,"storage":true,"schema":${schema}}]`;
  const { code, message } = await send(
    "POST",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    `{"metadata":{"name":"gauges.x.dev"},"spec":{"group":"x.dev","scope":"Namespaced","names":${names},"versions":${versions}}}`,
  );
  expect([code, message]).toEqual([201, ""]);
});

test("a JSON patch copies 3 MiB at most, because each copy may double the object", async () => {
  const twice = Array.from({ length: 20 }, (_, index) => `{"op":"copy","from":"/data","path":"/data/${index}"}`);
  const patch = `[{"op":"add","path":"/data","value":{"a":"b"}},${twice.join()}]`;
  const { code, message } = await send(
    "PATCH",
    "/api/v1/namespaces/n/configmaps/m",
    patch,
    "application/json-patch+json",
  );
  expect([code, message]).toEqual([422, "the server rejected our request due to an error in our request"]);
});

test("an apply with an object in the place of a quantity is refused by its type", async () => {
  const container = '{"name":"c","resources":{"requests":{"cpu":{"nope":1}}}}';
  const template = `{"spec":{"containers":[${container}]}}`;
  const body = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"template":${template}}}`;
  const { code, message } = await send(
    "PATCH",
    `${deployments}/d?fieldManager=m`,
    body,
    "application/apply-patch+yaml",
  );
  expect(code).toBe(500);
  expect(message).toContain('.resources.requests.cpu: expected any scalar, got {"nope":1}');
});

test("managed fields with kinds of paths that nobody knows are taken without them", async () => {
  const entry =
    '{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"q:data":1}}';
  const path = "/api/v1/namespaces/n/configmaps/m";
  const { code, body } = await send("PATCH", path, `{"metadata":{"managedFields":[${entry}]}}`, merge);
  expect(code).toBe(200);
  expect(body.metadata).not.toHaveProperty("managedFields");
});
