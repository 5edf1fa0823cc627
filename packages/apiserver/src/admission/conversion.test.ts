import { afterAll, beforeAll, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { createAuthority, issue } from "../certificates/certificate.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import { type ApiServer, createApiServer } from "../server.ts";

let server: ApiServer;
let webhook: ReturnType<typeof Bun.serve>;
let caBundle: string;
/** What the webhook waits for before it answers. */
let converting = async (): Promise<void> => {};

interface Review {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: KubeObject[] };
}

beforeAll(async () => {
  const authority = createAuthority("webhook");
  const hosts = ["127.0.0.1", "converter.conversion.svc"];
  const tls = issue(authority, { subject: { name: "webhook" }, hosts });
  caBundle = Buffer.from(authority.cert).toString("base64");
  webhook = Bun.serve({
    port: 0,
    hostname: "0.0.0.0",
    tls,
    fetch: async (request) => {
      const { uid, desiredAPIVersion: apiVersion, objects } = ((await request.json()) as Review).request;
      await converting();
      const convertedObjects = objects.map((object) => ({ ...object, apiVersion, spec: { by: apiVersion } }));
      const response = { uid, convertedObjects, result: { status: "Success" } };
      return Response.json({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response });
    },
  });
  server = await createApiServer();
  await call("POST", "/api/v1/namespaces", { metadata: { name: "conversion" } });
});

afterAll(async () => {
  await webhook.stop(true);
  await server.stop();
});

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<KubeObject & { message?: string; spec: Fields }> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const request = new Request(`http://server${path}`, {
    method,
    headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
    ...init,
  });
  return (await (await server.fetch(request)).json()) as Awaited<ReturnType<typeof call>>;
}

async function define(group: string, clientConfig: object): Promise<void> {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { by: { type: "string" } } } },
    },
  };
  const versions = ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v2", schema }));
  await call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions,
      conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } },
    },
  });
  const deadline = performance.now() + 2000;
  while (performance.now() < deadline) {
    const { status } = await server.fetch(new Request(`http://server/apis/${group}/v1/things`));
    if (status === 200) return;
    await Bun.sleep(5);
  }
}

async function stored(group: string): Promise<unknown> {
  const path = (version: string): string => `/apis/${group}/${version}/namespaces/conversion/things`;
  const made = await call("POST", path("v1"), {
    apiVersion: `${group}/v1`,
    kind: "Thing",
    metadata: { name: "a" },
    spec: {},
  });
  if (made.kind === "Status") return made.message;
  return (await call("GET", `${path("v2")}/a`)).spec;
}

test("convertObjects asks a webhook by its url", async () => {
  await define("url.example.test", { url: `https://127.0.0.1:${webhook.port}/convert`, caBundle });
  expect(await stored("url.example.test")).toEqual({ by: "url.example.test/v2" });
});

/** An address of this machine that endpoints may have, so none of the loopback. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

test.skipIf(address === undefined)("convertObjects asks a webhook behind a service, at its endpoint", async () => {
  const service = { namespace: "conversion", name: "converter", path: "/convert" };
  await define("service.example.test", { service, caBundle });
  expect(await stored("service.example.test")).toBe(
    'conversion webhook for service.example.test/v1, Kind=Thing failed: Post "https://converter.conversion.svc:443/convert?timeout=30s": service "converter" not found',
  );
  await call("POST", "/api/v1/namespaces/conversion/services", {
    metadata: { name: "converter" },
    spec: { ports: [{ port: 443 }] },
  });
  await call("POST", "/apis/discovery.k8s.io/v1/namespaces/conversion/endpointslices", {
    metadata: { name: "converter-1", labels: { "kubernetes.io/service-name": "converter" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [address] }],
    ports: [{ name: "", port: webhook.port }],
  });
  expect(await stored("service.example.test")).toEqual({ by: "service.example.test/v2" });
});

test("a list shows no object of another version that is written while the webhook converts", async () => {
  const group = "busy.example.test";
  await define(group, { url: `https://127.0.0.1:${webhook.port}/convert`, caBundle });
  const path = (version: string): string => `/apis/${group}/${version}/namespaces/conversion/things`;
  const thing = (name: string) => ({ apiVersion: `${group}/v2`, kind: "Thing", metadata: { name }, spec: {} });
  for (const name of ["a", "b", "c"]) await call("POST", path("v2"), thing(name));
  await call("GET", `/apis/${group}/v2/things`); // as the server keeps them in order from here on
  converting = async () => {
    converting = async () => {};
    await call("PATCH", `${path("v2")}/b`, { metadata: { labels: { changed: "meanwhile" } } });
  };
  const list = (await call("GET", `/apis/${group}/v1/things`)) as unknown as { readonly items: readonly KubeObject[] };
  expect(list.items.map(({ apiVersion, spec }) => [apiVersion, spec])).toEqual(
    ["a", "b", "c"].map(() => [`${group}/v1`, { by: `${group}/v1` }]),
  );
  expect(list.items[1]!.metadata.labels).toBeUndefined(); // the list is of one version
});
