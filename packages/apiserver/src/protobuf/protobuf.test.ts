import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fields, KubeObject } from "../hooks.ts";
import { builtInSchema } from "../tables/tables.ts";
import { decodeProtobuf } from "./decode.ts";
import { encodeProtobuf } from "./encode.ts";
import { administrator, type ApiServer, createApiServer } from "../server.ts";

let server: ApiServer;

beforeAll(async () => {
  server = await createApiServer();
});

afterAll(async () => {
  await server.stop();
});

/** Encodes a field of a message: bytes with their length, or a number. */
function field(number: number, value: string | Uint8Array | number): Buffer {
  if (typeof value === "number") return Buffer.from([number << 3, ...varint(value)]);
  const bytes = Buffer.from(value as string);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}

function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

/** Wraps an object as clients in Go do. */
function enveloped(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = message(field(1, apiVersion), field(2, kind));
  return Buffer.concat([Buffer.from("k8s\0"), field(1, type), field(2, raw)]);
}

async function post(
  path: string,
  body: Buffer,
): Promise<{ code: number; body: KubeObject & { data?: Fields; message?: string } }> {
  const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
  const response = await server.fetch(
    new Request(`http://server${path}`, { method: "POST", headers, body: new Uint8Array(body) }),
  );
  return { code: response.status, body: (await response.json()) as KubeObject };
}

const maps = "/api/v1/namespaces/default/configmaps";
const metadata = (name: string): Buffer =>
  field(1, message(field(1, name), field(11, message(field(1, "app"), field(2, "a")))));

test("decodeProtobuf reads an object with maps, and bytes as base64", async () => {
  const data = field(2, message(field(1, "key"), field(2, "grüße")));
  const binary = field(3, message(field(1, "raw"), field(2, new Uint8Array([0, 255]))));
  const { code, body } = await post(maps, enveloped("v1", "ConfigMap", message(metadata("a"), data, binary)));
  expect(code).toBe(201);
  expect(body).toMatchObject({
    metadata: { name: "a", labels: { app: "a" } },
    data: { key: "grüße" },
    binaryData: { raw: "AP8=" },
  });
});

test("decodeProtobuf reads numbers, lists and messages inside of messages", async () => {
  const port = field(1, message(field(1, "http"), field(2, "TCP"), field(3, 8080)));
  const spec = field(2, message(port, field(2, message(field(1, "app"), field(2, "a")))));
  const { code, body } = await post(
    "/api/v1/namespaces/default/services",
    enveloped("v1", "Service", message(metadata("s"), spec)),
  );
  expect(code).toBe(201);
  expect(body["spec"]).toMatchObject({
    ports: [{ name: "http", protocol: "TCP", port: 8080 }],
    selector: { app: "a" },
  });
});

test("decodeProtobuf refuses what ends too soon, and what is no envelope", async () => {
  const whole = enveloped("v1", "ConfigMap", metadata("b"));
  for (const body of [whole.subarray(0, whole.length - 3), Buffer.from("k8s"), Buffer.from("{}")]) {
    const answer = await post(maps, body);
    expect(answer.code).toBe(400);
    expect(answer.body.kind).toBe("Status");
  }
});

test("decodeProtobuf never throws anything but a Status, whatever the bytes", async () => {
  const whole = enveloped("v1", "ConfigMap", message(metadata("c"), field(2, message(field(1, "k"), field(2, "v")))));
  for (let index = 4; index < whole.length; index++) {
    const broken = Buffer.from(whole);
    broken[index] = (broken[index]! + 89) & 255;
    const { code } = await post(`${maps}?dryRun=All`, broken);
    expect(code).toBeLessThan(500);
  }
});

async function answered(path: string, accept: string): Promise<{ type: string | null; body: Fields }> {
  const response = await server.fetch(new Request(`http://server${path}`, { headers: { accept } }));
  const type = response.headers.get("content-type");
  if (type !== "application/vnd.kubernetes.protobuf") return { type, body: (await response.json()) as Fields };
  return { type, body: decodeProtobuf(await response.bytes(), builtInSchema) };
}

const protobuf = "application/vnd.kubernetes.protobuf";

test("objects, lists, metadata and refusals are answered in protobuf when it is asked for", async () => {
  await post(
    maps,
    enveloped("v1", "ConfigMap", message(metadata("answered"), field(2, message(field(1, "k"), field(2, "v"))))),
  );
  const one = await answered(`${maps}/answered`, `${protobuf}, application/json`);
  expect(one).toMatchObject({ type: protobuf, body: { kind: "ConfigMap", data: { k: "v" } } });
  const list = await answered(`${maps}?fieldSelector=metadata.name%3Danswered`, protobuf);
  expect(list).toMatchObject({ type: protobuf, body: { items: [{ data: { k: "v" } }] } });
  const partial = await answered(`${maps}/answered`, `${protobuf};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`);
  expect(partial.body).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "answered" } });
  const none = await server.fetch(new Request(`http://server${maps}/none`, { headers: { accept: protobuf } }));
  expect(none.headers.get("content-type")).toBe(protobuf);
  expect(Buffer.from(await none.bytes()).toString()).toMatch(
    /^k8s\0[^]*Status[^]*configmaps "none" not found[^]*NotFound/,
  );
  const table = await answered(`${maps}/answered`, `${protobuf};as=Table;v=v1;g=meta.k8s.io, application/json`);
  expect(table.type).toBe("application/json");
});

/** Splits the bytes of a watch into its events. */
function eventsIn(bytes: Buffer): string[] {
  const events: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    events.push(bytes.toString("latin1", at + 4, at + 4 + length));
    at += 4 + length;
  }
  return events;
}

const aWatch = `${protobuf};stream=watch`;

test.each([false, true])(
  "a watch in protobuf has the length of each event before it: headers held %p",
  async (holdsHeaders) => {
    const name = `followed-${holdsHeaders}`;
    const query = `watch=1&fieldSelector=metadata.name%3D${name}&timeoutSeconds=30`;
    for (const accept of [protobuf, aWatch, `${protobuf}, application/json`]) {
      const stop = new AbortController();
      const request = new Request(`http://server${maps}?${query}`, { headers: { accept }, signal: stop.signal });
      const response = await server.fetch(request, { certificate: administrator, holdsHeaders });
      expect(response.headers.get("content-type")).toBe(aWatch);
      const reader = response.body!.getReader();
      const bytes: Uint8Array[] = [];
      const next = async (): Promise<void> => void bytes.push((await reader.read()).value!);
      // The byte with which the headers are sent belongs to the length of the first event.
      if (holdsHeaders) await next();
      expect(Buffer.concat(bytes)).toEqual(Buffer.alloc(holdsHeaders ? 1 : 0));
      await post(maps, enveloped("v1", "ConfigMap", metadata(name)));
      await next();
      await server.fetch(new Request(`http://server${maps}/${name}`, { method: "DELETE" }));
      await next();
      stop.abort();
      const events = eventsIn(Buffer.concat(bytes));
      expect(events.map((event) => [event.slice(0, event.indexOf("\u0012")), event.includes(name)])).toEqual([
        ["\n\u0005ADDED", true],
        ["\n\u0007DELETED", true],
      ]);
    }
  },
);

test("a watch in protobuf tells its errors as events, and the state first where it is asked for", async () => {
  const read = async (query: string): Promise<string[]> => {
    const request = new Request(`http://server${maps}?watch=1&timeoutSeconds=0&${query}`, {
      headers: { accept: aWatch },
    });
    return eventsIn(
      Buffer.from(
        await (await server.fetch(request, { certificate: administrator, holdsHeaders: true })).arrayBuffer(),
      ),
    );
  };
  server.compact();
  const [expired] = await read("resourceVersion=1");
  expect(expired).toMatch(/^\n.ERROR[^]*Status[^]*too old resource version: 1[^]*Expired/);
  await post(maps, enveloped("v1", "ConfigMap", metadata("stated")));
  const state = await read(
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dstated",
  );
  expect(state.map((event) => /^\n.([A-Z]+)/.exec(event)?.[1])).toEqual(["ADDED", "BOOKMARK"]);
  expect(state[1]).toContain("k8s.io/initial-events-end");
});

/** Encodes an object and decodes it again. */
function again(object: Fields): Fields {
  return decodeProtobuf(encodeProtobuf(object, builtInSchema)!, builtInSchema);
}

test("what is one thing or another, negative numbers, bytes, times and names of their own come back", () => {
  const schema = {
    type: "object",
    properties: {
      list: { type: "array", items: { type: "string", "x-kubernetes-validations": [{ rule: "true" }] } },
      open: { type: "object", additionalProperties: true },
      numbers: { type: "object", additionalProperties: { type: "number", minimum: -1.5, default: { a: [1] } } },
    },
  };
  const names = { plural: "a", kind: "A" };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
  const definition = { kind: "CustomResourceDefinition", apiVersion: "apiextensions.k8s.io/v1" };
  const spec = { group: "b", names, scope: "Namespaced", versions };
  expect(again({ ...definition, metadata: { name: "a.b" }, spec })).toMatchObject({ spec: { versions } });
  const webhooks = [{ name: "a.b.c", rules: [{ operations: ["CREATE"], apiGroups: ["*"] }] }];
  const hooks = { kind: "ValidatingWebhookConfiguration", apiVersion: "admissionregistration.k8s.io/v1", metadata: {} };
  expect(again({ ...hooks, webhooks })).toMatchObject({ webhooks });
  const priority = { kind: "PriorityClass", apiVersion: "scheduling.k8s.io/v1", metadata: {}, value: -1_000_000_000 };
  expect(again(priority)).toMatchObject({ value: -1_000_000_000 });
  const secret = { kind: "Secret", apiVersion: "v1", metadata: {}, data: { ä: "AAH/" }, type: "x".repeat(9000) };
  expect(again(secret)).toMatchObject(secret);
  const renewTime = "2026-01-02T03:04:05.678901Z";
  const lease = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata: {}, spec: { renewTime } };
  expect(again(lease)).toMatchObject(lease);
});
