import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fields, KubeObject } from "./hooks.ts";
import { type ApiServer, createApiServer } from "./server.ts";

let server: ApiServer;

beforeAll(async () => {
  server = await createApiServer();
});

afterAll(async () => {
  await server.stop();
});

interface Answer {
  readonly code: number;
  readonly body: KubeObject & { items?: KubeObject[]; message?: string; status?: Fields };
  readonly warnings: string | null;
}

async function call(method: string, path: string, body?: unknown, type = "application/json"): Promise<Answer> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const request = new Request(`http://server${path}`, { method, headers: { "content-type": type }, ...init });
  const response = await server.fetch(request);
  return {
    code: response.status,
    body: (await response.json()) as Answer["body"],
    warnings: response.headers.get("warning"),
  };
}

/** Returns the events of a watch after it has seen `count` of them. */
async function watched(path: string, count: number): Promise<{ type: string; object: KubeObject }[]> {
  const abort = new AbortController();
  const response = await server.fetch(new Request(`http://server${path}`, { signal: abort.signal }));
  const events: { type: string; object: KubeObject }[] = [];
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) events.push(JSON.parse(line) as (typeof events)[number]);
    if (events.length >= count) break;
  }
  abort.abort();
  return events;
}

async function namespace(name: string): Promise<string> {
  await call("POST", "/api/v1/namespaces", { metadata: { name } });
  return `/api/v1/namespaces/${name}/configmaps`;
}

test("create answers the object with its system fields, and refuses a second one", async () => {
  const maps = await namespace("creating");
  const made = await call("POST", maps, { metadata: { name: "a", uid: "mine" }, data: { a: "b" } });
  expect(made.code).toBe(201);
  expect(made.body.metadata).toMatchObject({ name: "a", namespace: "creating", uid: expect.any(String) });
  expect(made.body.metadata.uid).not.toBe("mine");
  const again = await call("POST", maps, { metadata: { name: "a" } });
  expect(again.body).toMatchObject({ code: 409, reason: "AlreadyExists", message: 'configmaps "a" already exists' });
});

test("create with a generated name, dry, and in a namespace that is not there", async () => {
  const maps = await namespace("dry");
  const dry = await call("POST", `${maps}?dryRun=All`, { metadata: { generateName: "x-" } });
  expect(dry.code).toBe(201);
  expect(dry.body.metadata.name).toMatch(/^x-[a-z0-9]{5}$/);
  expect((await call("GET", maps)).body.items).toEqual([]);
  const absent = await call("POST", "/api/v1/namespaces/nowhere/configmaps", { metadata: { name: "a" } });
  expect(absent.body).toMatchObject({ code: 404, message: 'namespaces "nowhere" not found' });
});

test("fieldValidation warns of unknown fields, refuses them, or says nothing", async () => {
  const maps = await namespace("strict");
  const body = { metadata: { name: "a" }, nope: 1 };
  expect((await call("POST", `${maps}?dryRun=All`, body)).warnings).toContain('unknown field \\"nope\\"');
  expect((await call("POST", `${maps}?dryRun=All&fieldValidation=Ignore`, body)).warnings).toBeNull();
  const strict = await call("POST", `${maps}?fieldValidation=Strict`, body);
  expect(strict.body.message).toBe(
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nope"',
  );
});

test("strict decoding of a built-in kind names what it finds in the order of the text", async () => {
  const maps = await namespace("strict-order");
  const url = `http://server${maps}?fieldValidation=Strict`;
  const refusal = async (body: string): Promise<string> => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    return ((await (await server.fetch(new Request(url, init))).json()) as { message: string }).message;
  };
  expect(await refusal('{"metadata":{"name":"a"},"nope":1,"data":{"a":"1"},"data":{"a":"2"}}')).toEndWith(
    'strict decoding error: unknown field "nope", duplicate field "data"',
  );
  expect(await refusal('{"metadata":{"name":"a","name":"b"},"nope":1}')).toEndWith(
    'strict decoding error: duplicate field "metadata.name", unknown field "nope"',
  );
});

test("a watch tells that a pod is being deleted before it tells that it is gone", async () => {
  const path = "/api/v1/namespaces/default/pods";
  const spec = { containers: [{ name: "a", image: "a" }] };
  const { body: pod } = await call("POST", path, { metadata: { name: "going" }, spec });
  const from = `http://server${path}?watch=1&resourceVersion=${pod.metadata.resourceVersion}`;
  const reader = (await server.fetch(new Request(from))).body!.getReader();
  const deletion = call("DELETE", `${path}/going`);
  const news = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  const types = async (): Promise<string[]> => [...(await news()).matchAll(/"type":"(\w+)"/g)].map(([, type]) => type!);
  expect(await types()).toEqual(["MODIFIED"]);
  expect(await types()).toEqual(["DELETED"]);
  expect((await deletion).code).toBe(200);
  await reader.cancel();
  expect((await call("GET", `${path}/going`)).code).toBe(404);
});

test("update conflicts on another version, and changes nothing when nothing differs", async () => {
  const maps = await namespace("updating");
  const made = await call("POST", maps, { metadata: { name: "a" }, data: { a: "1" } });
  const same = await call("PUT", `${maps}/a`, made.body);
  expect(same.body.metadata.resourceVersion).toBe(made.body.metadata.resourceVersion ?? "");
  const changed = await call("PUT", `${maps}/a`, { ...made.body, data: { a: "2" } });
  expect(changed.code).toBe(200);
  const stale = await call("PUT", `${maps}/a`, { ...made.body, data: { a: "3" } });
  expect(stale.body).toMatchObject({ code: 409, reason: "Conflict" });
});

test("list pages with limit and continue over one state", async () => {
  const maps = await namespace("paging");
  for (const name of ["a", "b", "c"]) await call("POST", maps, { metadata: { name } });
  const first = await call("GET", `${maps}?limit=2`);
  expect(first.body.items?.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
  expect(first.body.metadata).toMatchObject({ remainingItemCount: 1 });
  await call("POST", maps, { metadata: { name: "bb" } });
  const rest = await call("GET", `${maps}?limit=2&continue=${String(first.body.metadata["continue"])}`);
  expect(rest.body.items?.map(({ metadata }) => metadata.name)).toEqual(["c"]);
});

test("list by labels and fields, and at versions", async () => {
  const maps = await namespace("selecting");
  const made = await call("POST", maps, { metadata: { name: "a", labels: { tier: "web" } } });
  await call("POST", maps, { metadata: { name: "b" } });
  const names = async (query: string): Promise<unknown> =>
    (await call("GET", `${maps}?${query}`)).body.items?.map(({ metadata }) => metadata.name);
  expect(await names("labelSelector=tier%3Dweb")).toEqual(["a"]);
  expect(await names("fieldSelector=metadata.name%3Db")).toEqual(["b"]);
  const version = made.body.metadata.resourceVersion ?? "";
  expect(await names(`resourceVersion=${version}&resourceVersionMatch=Exact`)).toEqual(["a"]);
  const future = await call("GET", `${maps}?resourceVersion=99999999`);
  expect(future.body).toMatchObject({ code: 504, reason: "Timeout" });
});

test("watch shows what happened since a version, and what enters and leaves a selection", async () => {
  const maps = await namespace("watching");
  const before = (await call("GET", maps)).body.metadata.resourceVersion ?? "";
  await call("POST", maps, { metadata: { name: "a" } });
  await call("PATCH", `${maps}/a`, { metadata: { labels: { in: "yes" } } }, "application/merge-patch+json");
  await call("PATCH", `${maps}/a`, { data: { a: "b" } }, "application/merge-patch+json");
  await call("PATCH", `${maps}/a`, { metadata: { labels: null } }, "application/merge-patch+json");
  await call("DELETE", `${maps}/a`);
  const types = async (query: string, count: number): Promise<string[]> =>
    (await watched(`${maps}?watch=1&resourceVersion=${before}${query}`, count)).map(({ type }) => type);
  expect(await types("", 5)).toEqual(["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]);
  expect(await types("&labelSelector=in", 3)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
});

test("watch sends the state first and a bookmark when asked", async () => {
  const maps = await namespace("initial");
  await call("POST", maps, { metadata: { name: "a" } });
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1";
  const [added, bookmark] = await watched(`${maps}?${query}`, 2);
  expect(added).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
  expect(bookmark?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
});

test("watch from a compacted version is answered 410", async () => {
  const maps = await namespace("compacting");
  const made = await call("POST", maps, { metadata: { name: "a" } });
  server.compact();
  const version = Number(made.body.metadata.resourceVersion) - 1;
  const [error] = await watched(`${maps}?watch=1&resourceVersion=${version}`, 1);
  expect(error).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
});

test("delete waits for finalizers, and checks preconditions", async () => {
  const maps = await namespace("deleting");
  await call("POST", maps, { metadata: { name: "a", finalizers: ["example.test/hold"] } });
  const wrong = await call("DELETE", `${maps}/a`, { preconditions: { uid: "other" } });
  expect(wrong.body).toMatchObject({ code: 409, reason: "Conflict" });
  const held = await call("DELETE", `${maps}/a`);
  expect(held.body.metadata).toMatchObject({ deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 });
  const patch = { metadata: { finalizers: null } };
  expect((await call("PATCH", `${maps}/a`, patch, "application/merge-patch+json")).code).toBe(200);
  expect((await call("GET", `${maps}/a`)).code).toBe(404);
});

test("delete of a namespace marks it, and nothing begins in it any more", async () => {
  const maps = await namespace("ending");
  const marked = await call("DELETE", "/api/v1/namespaces/ending");
  expect(marked.body.status).toEqual({ phase: "Terminating" });
  const refused = await call("POST", maps, { metadata: { name: "a" } });
  expect(refused.body).toMatchObject({ code: 403, details: { causes: [{ reason: "NamespaceTerminating" }] } });
  const finalized = { ...marked.body, spec: { finalizers: [] } };
  expect((await call("PUT", "/api/v1/namespaces/ending/finalize", finalized)).code).toBe(200);
  expect((await call("GET", "/api/v1/namespaces/ending")).code).toBe(404);
});

test("apply owns fields, conflicts without force, and removes what it no longer applies", async () => {
  const maps = await namespace("applying");
  const type = "application/apply-patch+yaml";
  const applied = (data: Record<string, string>): unknown => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data,
  });
  expect((await call("PATCH", `${maps}/a?fieldManager=one`, applied({ a: "1", b: "1" }), type)).code).toBe(201);
  const conflict = await call("PATCH", `${maps}/a?fieldManager=two`, applied({ a: "2" }), type);
  expect(conflict.body).toMatchObject({
    code: 409,
    message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
  });
  expect((await call("PATCH", `${maps}/a?fieldManager=two&force=true`, applied({ a: "2" }), type)).code).toBe(200);
  const less = await call("PATCH", `${maps}/a?fieldManager=one`, applied({}), type);
  expect(less.body["data"]).toEqual({ a: "2" });
});

const tigers = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "tigers.zoo.example.test" },
  spec: {
    group: "zoo.example.test",
    scope: "Namespaced",
    names: { plural: "tigers", kind: "Tiger" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: ".spec.color" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: { color: { type: "string", default: "orange" }, stripes: { type: "integer" } },
              },
              status: { type: "object", properties: { fed: { type: "boolean" } } },
            },
          },
        },
      },
    ],
  },
};

test("a CustomResourceDefinition is served, and its objects go with it", async () => {
  await namespace("zoo");
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  expect((await call("POST", definitions, tigers)).code).toBe(201);
  await Bun.sleep(0);
  const path = "/apis/zoo.example.test/v1/namespaces/zoo/tigers";
  const own = { apiVersion: "zoo.example.test/v1", kind: "Tiger", metadata: { name: "a" } };
  const made = await call("POST", path, { ...own, spec: { stripes: 3, nope: 1 }, status: { fed: true } });
  expect(made.body).toMatchObject({ metadata: { generation: 1 }, spec: { color: "orange", stripes: 3 } });
  expect(made.body).not.toHaveProperty("status");
  expect(made.body["spec"]).not.toHaveProperty("nope");
  const fed = await call("PATCH", `${path}/a/status`, { status: { fed: true } }, "application/merge-patch+json");
  expect(fed.body).toMatchObject({ metadata: { generation: 1 }, status: { fed: true } });
  const wrong = await call("PATCH", `${path}/a`, { spec: { stripes: "x" } }, "application/merge-patch+json");
  expect(wrong.body).toMatchObject({ code: 422, reason: "Invalid" });
  expect((await call("GET", `${path}?fieldSelector=spec.color%3Dorange`)).body.items).toHaveLength(1);
  expect((await call("DELETE", `${definitions}/tigers.zoo.example.test`)).code).toBe(200);
  await Bun.sleep(10);
  expect((await call("GET", `${definitions}/tigers.zoo.example.test`)).code).toBe(404);
  const gone = await server.fetch(new Request(`http://server${path}`));
  expect(gone.status).toBe(404);
});

test("discovery, OpenAPI, version and health answer", async () => {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const groups = await server.fetch(new Request("http://server/apis", { headers: { accept } }));
  expect(((await groups.json()) as { kind: string }).kind).toBe("APIGroupDiscoveryList");
  for (const path of ["/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/openapi/v3", "/version"])
    expect((await server.fetch(new Request(`http://server${path}`))).status).toBe(200);
  expect(await (await server.fetch(new Request("http://server/readyz"))).text()).toBe("ok");
  expect((await server.fetch(new Request("http://server/nope"))).status).toBe(404);
});

test("what has no table, or no older version, is answered in no such form", async () => {
  const answered = async (path: string, accept: string, body?: object): Promise<unknown> => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const headers = { accept, "content-type": "application/json" };
    const response = await server.fetch(new Request(`http://server${path}`, { headers, ...sent }));
    return [response.status, ((await response.json()) as Fields)["kind"]];
  };
  const meta = (form: string): string => `application/json;as=${form};v=v1;g=meta.k8s.io`;
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  expect(await answered(path, meta("Table"), review)).toEqual([406, "Status"]);
  expect(await answered(path, meta("PartialObjectMetadata"), review)).toEqual([201, "PartialObjectMetadata"]);
  const older = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  expect(await answered("/apis", older)).toEqual([406, "Status"]);
  expect(await answered("/apis", `${older},application/json`)).toEqual([200, "APIGroupList"]);
  expect(await answered("/api/v1", older)).toEqual([406, "Status"]);
});

test("a Table and metadata alone are answered when asked for", async () => {
  const maps = await namespace("forms");
  await call("POST", maps, { metadata: { name: "a" }, data: { a: "b" } });
  const as = async (form: string): Promise<Fields> => {
    const accept = `application/json;as=${form};v=v1;g=meta.k8s.io`;
    return (await (await server.fetch(new Request(`http://server${maps}`, { headers: { accept } }))).json()) as Fields;
  };
  expect(await as("Table")).toMatchObject({ kind: "Table", rows: [{ cells: ["a", 1, expect.any(String)] }] });
  expect(await as("PartialObjectMetadataList")).toMatchObject({ items: [{ kind: "PartialObjectMetadata" }] });
});
