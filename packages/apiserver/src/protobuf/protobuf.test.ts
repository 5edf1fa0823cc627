import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fields, KubeObject } from "../hooks.ts";
import { builtInSchema } from "../tables/tables.ts";
import { decodeProtobuf } from "./decode.ts";
import { encodeProtobuf } from "./encode.ts";
import { type ApiServer, createApiServer } from "../server.ts";

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

test("a watch in protobuf has the length of each event before it", async () => {
  const headers = { accept: `${protobuf};stream=watch, application/json` };
  const query = "watch=1&fieldSelector=metadata.name%3Dfollowed&timeoutSeconds=30";
  const stop = new AbortController();
  const response = await server.fetch(
    new Request(`http://server${maps}?${query}`, { headers: { accept: protobuf }, signal: stop.signal }),
  );
  expect(headers.accept).toStartWith(response.headers.get("content-type") ?? "none");
  await post(maps, enveloped("v1", "ConfigMap", metadata("followed")));
  const { value } = await response.body!.getReader().read();
  stop.abort();
  const bytes = Buffer.from(value!);
  expect(bytes.readUInt32BE(0)).toBe(bytes.length - 4);
  expect(bytes.subarray(4, 11)).toEqual(Buffer.from("\n\u0005ADDED"));
  expect(bytes.includes("followed")).toBe(true);
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
