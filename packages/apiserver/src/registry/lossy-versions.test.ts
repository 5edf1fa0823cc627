import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../tests/support/until.ts";
import type { KubeObject } from "../hooks.ts";
import { type ApiServer, createApiServer } from "../server.ts";

let server: ApiServer;

const schemaOf = (names: readonly string[]): object => ({
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) },
    },
  },
});

async function call(method: string, path: string, body?: unknown, type?: string): Promise<KubeObject> {
  const usual = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { "content-type": type ?? usual };
  const response = await server.fetch(new Request(`http://server${path}`, { method, headers, ...init }));
  return (await response.json().catch(() => ({}))) as KubeObject;
}

beforeAll(async () => {
  server = await createApiServer();
  const version = { served: true, storage: false };
  await call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "widgets.a.b" },
    spec: {
      group: "a.b",
      scope: "Cluster",
      names: { plural: "widgets", kind: "Widget" },
      versions: [
        { ...version, name: "v1alpha1", schema: schemaOf(["one", "two"]) },
        { ...version, name: "v1", storage: true, schema: schemaOf(["one"]) },
      ],
    },
  });
  await until(async () => (await call("GET", "/apis/a.b/v1/widgets")).kind === "WidgetList");
});

afterAll(async () => {
  await server.stop();
});

const widget = (version: string, spec: object, name = "w"): object => ({
  apiVersion: `a.b/${version}`,
  kind: "Widget",
  metadata: { name },
  spec,
});

test("a field that the storage version lacks is lost, and its owner is not", async () => {
  const sent = widget("v1alpha1", { one: "1", two: "2" }, "kept");
  const made = await call("POST", "/apis/a.b/v1alpha1/widgets", sent);
  expect(made["spec"]).toEqual({ one: "1" });
  expect(made.metadata.managedFields?.[0]?.["fieldsV1"]).toEqual({ "f:spec": { ".": {}, "f:one": {}, "f:two": {} } });
});

test("beside a manager of the lesser version an update gives up all managers, and an apply fails", async () => {
  await call("POST", "/apis/a.b/v1/widgets", widget("v1", { one: "1" }));
  const path = "/apis/a.b/v1alpha1/widgets/w";
  const applied = widget("v1alpha1", { two: "2" });
  const { message } = (await call("PATCH", `${path}?fieldManager=m`, applied, "application/apply-patch+yaml")) as {
    message?: string;
  };
  expect(message).toBe("failed to convert new object: .spec.two: field not declared in schema");
  const patched = await call("PATCH", path, { spec: { two: "2" } });
  expect(patched.metadata.managedFields).toBeUndefined();
});
