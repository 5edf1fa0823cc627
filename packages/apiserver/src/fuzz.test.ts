import { afterAll, expect, test } from "bun:test";
import { anything, assert, asyncProperty, constantFrom, json, oneof, record, string } from "fast-check";
import { type ApiServer, createApiServer } from "./server.ts";

const server: ApiServer = await createApiServer();

afterAll(() => server.stop());

const definition = {
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
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: JSON.stringify(definition) });
await Bun.sleep(5);

interface Sent {
  readonly type?: string;
  readonly body?: string;
}

async function send(method: string, path: string, { type = "application/json", body }: Sent): Promise<Response> {
  const init = body === undefined ? {} : { body };
  return server.fetch(new Request(`http://server${path}`, { method, headers: { "content-type": type }, ...init }));
}

/** The two responses with status 500 that the real server gives to such requests too. */
const known =
  /resourceVersion should not be set on objects to be created|strconv.ParseUint|failed to create typed patch/;

async function check(response: Response): Promise<void> {
  const text = await response.text();
  if (response.status < 400 || text.startsWith("404 page not found")) return;
  const status = JSON.parse(text) as { kind: string; code: number; message: string };
  expect(status.kind).toBe("Status");
  if (response.status === 500) expect(status.message).toMatch(known);
}

const collections = [
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/pods",
  "/api/v1/namespaces/default/services",
  "/api/v1/namespaces",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/events.k8s.io/v1/namespaces/default/events",
  "/apis/zoo.example.test/v1/namespaces/default/tigers",
];
const path = constantFrom(...collections);
const value = oneof(anything(), constantFrom(null, 0, "", [], {}));
const metadata = record({
  name: oneof(string(), constantFrom("a", "b")),
  labels: value,
  finalizers: value,
  ownerReferences: value,
});
const types = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"];

test("random bodies are created or refused with a Status", async () => {
  const body = oneof(
    json(),
    string(),
    record({ apiVersion: string(), kind: string(), metadata, spec: value, data: value }, { requiredKeys: [] }).map(
      (object) => JSON.stringify(object),
    ),
    record({
      metadata,
      spec: record({ template: value, ports: value, containers: value, versions: value, names: value }),
    }).map((object) => JSON.stringify(object)),
  );
  await assert(
    asyncProperty(path, body, async (at, text) => check(await send("POST", `${at}?dryRun=All`, { body: text }))),
    { numRuns: 400 },
  );
});

test("random patches change something or are refused with a Status", async () => {
  const map = "/api/v1/namespaces/default/configmaps";
  await send("POST", map, { body: JSON.stringify({ metadata: { name: "patched" }, data: { a: "b" } }) });
  const operation = record({
    op: constantFrom("add", "remove", "replace", "move", "copy", "test", "no"),
    path: string(),
    from: string(),
    value,
  });
  const body = oneof(
    json(),
    record({ metadata, data: value }, { requiredKeys: [] }).map((patch) => JSON.stringify(patch)),
    operation.map((one) => JSON.stringify([one])),
  );
  await assert(
    asyncProperty(constantFrom(...types, "application/apply-patch+yaml"), body, async (type, text) => {
      const at = `${map}/patched?dryRun=All${type.includes("apply") ? "&fieldManager=f" : ""}`;
      await check(await send("PATCH", at, { type, body: text }));
    }),
    { numRuns: 400 },
  );
});

test("random queries, selectors and paths are answered with a Status", async () => {
  const name = constantFrom(
    "labelSelector",
    "fieldSelector",
    "limit",
    "continue",
    "resourceVersion",
    "dryRun",
    "watch",
  );
  await assert(
    asyncProperty(path, name, string(), async (at, key, text) => {
      if (key === "watch") return;
      await check(await send("GET", `${at}?${new URLSearchParams({ [key]: text }).toString()}`, {}));
      await check(await send("DELETE", `${at}?dryRun=All&${new URLSearchParams({ [key]: text }).toString()}`, {}));
    }),
    { numRuns: 200 },
  );
  await assert(
    asyncProperty(path, string(), constantFrom("GET", "PUT", "DELETE", "PATCH", "POST"), async (at, text, method) => {
      const body = method === "GET" ? {} : { body: "{}" };
      await check(await send(method, `${at}/${encodeURIComponent(text)}`, body));
    }),
    { numRuns: 300 },
  );
});
