import { expect, test } from "bun:test";
import { sendJson, sendStatus, startLoopback } from "../../../tests/support/loopback-server.ts";
import { foreignResource } from "../../resource/foreign.ts";
import { handle, resource, type Resource } from "../../resource/handle.ts";
import { isNotFound } from "../errors/api-error.ts";
import { collectionPath, objectPath, RestMapper } from "./mapper.ts";
import { createTransport } from "../transport/transport.ts";

const apps = {
  kind: "APIResourceList",
  groupVersion: "apps/v1",
  resources: [
    { name: "deployments/scale", kind: "Scale", namespaced: true },
    { name: "deployments", kind: "Deployment", namespaced: true },
    { name: "deployments/status", kind: "Deployment", namespaced: true },
    { name: "clusterthings", kind: "ClusterThing", namespaced: false },
  ],
};

async function start() {
  const stack = new AsyncDisposableStack();
  const server = stack.use(
    await startLoopback((request, reply) =>
      request.path === "/apis/apps/v1" ? sendJson(reply, apps) : sendStatus(reply, 404),
    ),
  );
  const transport = createTransport(server.config);
  stack.defer(() => transport.close());
  let now = 0;
  const mapper = new RestMapper(transport, { now: () => now });
  return { server, mapper, pass: (ms: number) => void (now += ms), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("RestMapper finds a kind with one request for its group and version", async () => {
  await using kit = await start();
  const { mapper, server } = kit;
  const deployment = resource("apps/v1", "Deployment");
  expect(mapper.known(deployment)).toBeUndefined();
  const [mapping, other] = await Promise.all([
    mapper.resolve(deployment),
    mapper.resolve(resource("apps/v1", "ClusterThing")),
  ]);
  expect(mapping).toEqual({
    apiVersion: "apps/v1",
    kind: "Deployment",
    group: "apps",
    version: "v1",
    plural: "deployments",
    namespaced: true,
    subresources: ["scale", "status"],
  });
  expect(other).toMatchObject({ plural: "clusterthings", namespaced: false });
  expect(mapper.known(deployment)).toBe(mapping);
  expect(server.lines).toEqual(["GET /apis/apps/v1"]);
});

test("RestMapper looks again for a kind that was absent, also when the machine's clock has been set back", async () => {
  await using server = await startLoopback((_request, reply) => sendStatus(reply, 404));
  const transport = createTransport(server.config);
  const mapper = new RestMapper(transport);
  const thing = resource("a.b/v1", "Thing");
  const real = Date.now;
  try {
    expect(isNotFound(await mapper.resolve(thing).catch((error: unknown) => error))).toBe(true);
    Date.now = () => real() - 7_200_000;
    await Bun.sleep(1_001);
    expect(isNotFound(await mapper.resolve(thing).catch((error: unknown) => error))).toBe(true);
  } finally {
    Date.now = real;
    await transport.close();
  }
  expect(server.lines).toHaveLength(2);
});

test("RestMapper asks the server for a kind of `foreignResource`, also when its plural is given", async () => {
  await using kit = await start();
  const thing = foreignResource({ group: "apps", version: "v1", kind: "ClusterThing", plural: "cluster-things" });
  expect(kit.mapper.known(thing)).toBeUndefined();
  expect(await kit.mapper.resolve(thing)).toMatchObject({ plural: "clusterthings", namespaced: false });
});

test("RestMapper asks nothing for a handle that knows its plural", async () => {
  await using kit = await start();
  const pod: Resource = handle({
    apiVersion: "v1",
    kind: "Pod",
    scope: "Namespaced",
    plural: "pods",
    subresources: ["log"],
  });
  expect(await kit.mapper.resolve(pod)).toMatchObject({
    plural: "pods",
    group: "",
    version: "v1",
    subresources: ["log"],
  });
  expect(kit.mapper.known(pod)).toBe(await kit.mapper.resolve(pod));
  expect(kit.server.lines).toEqual([]);
});

test("RestMapper says which kind is missing, and asks again a second later", async () => {
  await using kit = await start();
  const { mapper, server, pass } = kit;
  for (const [apiVersion, kind] of [
    ["apps/v1", "Gone"],
    ["x.io/v1", "Thing"],
  ] as const) {
    const error = await mapper.resolve(resource(apiVersion, kind)).catch((thrown: unknown) => thrown);
    expect(isNotFound(error)).toBe(true);
    expect(String(error)).toContain(`The server has no kind ${kind} in apiVersion ${apiVersion}`);
  }
  const requests = server.requests.length;
  await mapper.resolve(resource("x.io/v1", "Thing")).catch(() => {});
  expect(server.requests).toHaveLength(requests);
  pass(1_000);
  await mapper.resolve(resource("x.io/v1", "Thing")).catch(() => {});
  expect(server.requests).toHaveLength(requests + 1);
});

test("RestMapper invalidate forgets what was discovered", async () => {
  await using kit = await start();
  const deployment = resource("apps/v1", "Deployment");
  await kit.mapper.resolve(deployment);
  kit.mapper.invalidate();
  expect(kit.mapper.known(deployment)).toBeUndefined();
});

test("RestMapper resolve ends with the signal, for that caller only", async () => {
  await using kit = await start();
  const controller = new AbortController();
  const deployment = resource("apps/v1", "Deployment");
  const given = kit.mapper.resolve(deployment, controller.signal).catch((error: unknown) => error);
  const kept = kit.mapper.resolve(deployment, new AbortController().signal);
  controller.abort("enough");
  expect(await given).toBe("enough");
  expect((await kept).plural).toBe("deployments");
});

const namespaced = {
  apiVersion: "apps/v1",
  kind: "D",
  group: "apps",
  version: "v1",
  plural: "ds",
  namespaced: true,
  subresources: [],
};
const cluster = { ...namespaced, apiVersion: "v1", group: "", namespaced: false };

test("collectionPath and objectPath encode names and leave out what does not belong", () => {
  expect(collectionPath(namespaced)).toBe("/apis/apps/v1/ds");
  expect(collectionPath(namespaced, "a b")).toBe("/apis/apps/v1/namespaces/a%20b/ds");
  expect(collectionPath(cluster, "a")).toBe("/api/v1/ds");
  expect(objectPath(namespaced, { namespace: "a", name: "b c" }, "status")).toBe(
    "/apis/apps/v1/namespaces/a/ds/b%20c/status",
  );
  expect(objectPath(cluster, { name: "system:node" })).toBe("/api/v1/ds/system%3Anode");
});

test("objectPath refuses a key that would be a collection's path", () => {
  expect(() => objectPath(namespaced, { namespace: "a", name: "" })).toThrow("the key has no name");
  expect(() => objectPath(namespaced, { name: "b" })).toThrow("it is namespaced, and the key has no namespace");
});

test("objectPath and collectionPath refuse names that lead elsewhere", () => {
  for (const name of [".", "..", "b/../c", "../../secrets/x", "%2e%2e"]) {
    expect(() => objectPath(namespaced, { namespace: "a", name })).toThrow(`Cannot make the path of D '${name}'`);
    expect(() => objectPath(cluster, { name })).toThrow("a name is not '.' or '..'");
    expect(() => objectPath(namespaced, { namespace: name, name: "b" })).toThrow("the path of Namespace");
    expect(() => collectionPath(namespaced, name)).toThrow(`Cannot make the path of Namespace '${name}'`);
  }
});
