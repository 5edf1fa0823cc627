import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiServer, createApiServer } from "../server.ts";

let server: ApiServer;
const collection = "/apis/things.example.test/v1/namespaces/default/things";
const partial = (form: string): string => `application/vnd.kubernetes.protobuf;as=${form};g=meta.k8s.io;v=v1`;

beforeAll(async () => {
  server = await createApiServer();
  const version = (name: string, field: string): object => ({
    name,
    served: true,
    storage: name === "v1",
    deprecated: true,
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties: { [field]: { type: "string" } } },
          status: { type: "object", properties: { phase: { type: "string" } } },
        },
      },
    },
  });
  const defined = await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    body: {
      metadata: { name: "things.things.example.test" },
      spec: {
        group: "things.example.test",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [version("v1", "one"), version("v2", "two")],
      },
    },
  });
  expect(await defined.json()).toMatchObject({ kind: "CustomResourceDefinition" });
  // A definition is established once it has been answered.
  while ((await send("GET", collection)).status !== 200) await Bun.sleep(1);
  await send("POST", "/api/v1/namespaces", { body: { metadata: { name: "default" } } });
  await send("POST", collection, {
    body: { apiVersion: "things.example.test/v1", kind: "Thing", metadata: { name: "a" } },
  });
});

afterAll(async () => {
  await server.stop();
});

interface Sent {
  readonly body?: unknown;
  readonly accept?: string;
  readonly type?: string;
}

async function send(method: string, path: string, { body, accept, type }: Sent = {}): Promise<Response> {
  const headers = { accept: accept ?? "application/json", "content-type": type ?? "application/json" };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return server.fetch(new Request(`http://server${path}`, init));
}

async function failure(response: Response): Promise<{ code: number; message: string; warning: string | null }> {
  const { message } = (await response.json()) as { readonly message: string };
  return { code: response.status, message, warning: response.headers.get("warning") };
}

test.each(["v2", "v9"])("an object of %s at the path of v1 is refused", async (version) => {
  const body = { apiVersion: `things.example.test/${version}`, kind: "Thing", metadata: { name: "b" } };
  expect((await failure(await send("POST", collection, { body }))).message).toBe(
    `the API version in the data (things.example.test/${version}) does not match the expected API version (things.example.test/v1)`,
  );
});

test("a custom kind refuses subresources and types of patches that it lacks before forms of answers", async () => {
  const deprecated = expect.stringContaining("things.example.test/v1 Thing is deprecated");
  const scale = await failure(await send("PATCH", `${collection}/a/scale`, { body: {}, accept: "image/png" }));
  expect(scale).toEqual({ code: 404, message: 'things.things.example.test "a" not found', warning: deprecated });
  const type = "application/strategic-merge-patch+json";
  expect((await failure(await send("PATCH", `${collection}/a`, { body: {}, accept: "image/png", type }))).code).toBe(
    415,
  );
  const read = await failure(await send("GET", `${collection}/a`, { accept: "image/png" }));
  expect(read).toMatchObject({ code: 406, warning: deprecated });
});

test("metadata of custom objects comes in protobuf, the objects do not", async () => {
  const list = await send("GET", collection, { accept: partial("PartialObjectMetadataList") });
  expect([list.status, list.headers.get("content-type")]).toEqual([200, "application/vnd.kubernetes.protobuf"]);
  const one = await send("GET", `${collection}/a`, { accept: partial("PartialObjectMetadata") });
  expect([one.status, one.headers.get("content-type")]).toEqual([200, "application/vnd.kubernetes.protobuf"]);
  expect((await send("GET", `${collection}/b`, { accept: partial("PartialObjectMetadata") })).status).toBe(404);
  expect((await send("GET", collection, { accept: "application/vnd.kubernetes.protobuf" })).status).toBe(406);
});

test("managers of fields that the stored version lacks stay until another version has fields that theirs lacks", async () => {
  const headers = { "content-type": "application/merge-patch+json", "user-agent": "editor" };
  const path = collection.replace("/v1/", "/v2/");
  const made = {
    apiVersion: "things.example.test/v2",
    kind: "Thing",
    metadata: { name: "managed" },
    spec: { two: "x" },
  };
  const init = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(made),
  };
  const created = (await (await server.fetch(new Request(`http://server${path}`, init))).json()) as object;
  expect(created).toMatchObject({
    spec: {},
    metadata: { managedFields: [{ fieldsV1: { "f:spec": { "f:two": {} } } }] },
  });
  const body = JSON.stringify({ spec: { one: "y" } });
  const change = new Request(`http://server${collection}/managed`, { method: "PATCH", headers, body });
  const changed = (await (await server.fetch(change)).json()) as { readonly metadata: object };
  expect(changed).toMatchObject({ spec: { one: "y" } });
  expect(changed.metadata).not.toHaveProperty("managedFields");
});

test("managers are given up where what was sent has other types, although its path does not write that part", async () => {
  const headers = { "content-type": "application/json", "user-agent": "editor" };
  const made = async (name: string, status: unknown): Promise<{ readonly metadata: object }> => {
    const object = {
      apiVersion: "things.example.test/v1",
      kind: "Thing",
      metadata: { name },
      spec: { one: "x" },
      status,
    };
    const init = { method: "POST", headers, body: JSON.stringify(object) };
    const path = `${collection}?fieldValidation=Ignore`;
    return (await (await server.fetch(new Request(`http://server${path}`, init))).json()) as { metadata: object };
  };
  expect((await made("typed", { phase: "x" })).metadata).toHaveProperty("managedFields");
  expect((await made("untyped", { phase: 0 })).metadata).not.toHaveProperty("managedFields");
});
