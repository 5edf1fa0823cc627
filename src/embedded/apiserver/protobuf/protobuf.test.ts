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
