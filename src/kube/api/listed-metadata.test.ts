import { array, assert, constantFrom, dictionary, integer, option, property, record, string } from "fast-check";
import { expect, test } from "bun:test";
import type { AnyObject } from "../../resource/handle.ts";
import { ProtobufFrameReader } from "../encoding/protobuf-frame-reader.ts";
import { plainObject } from "./listed-metadata.ts";
import { readMetadataList } from "./metadata-list.ts";
import { streamMetadata } from "./metadata-stream.ts";
import type { StreamRequest } from "../transport/kube-request.ts";

/** Protocol buffers, written as kube-apiserver does: every text and every message, also empty ones. */
const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))];
const field = (number: number, content: Iterable<number>): number[] => {
  const bytes = [...content];
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
};
const text = (number: number, value: string): number[] => field(number, new TextEncoder().encode(value));
const number = (at: number, value: number): number[] => [...varint(at * 8), ...varint(value)];
const entries = (at: number, map: Record<string, string> = {}): number[] =>
  Object.entries(map).flatMap(([key, value]) => field(at, [...text(1, key), ...text(2, value)]));
const time = (at: number, value: string): number[] =>
  field(at, [...number(1, Date.parse(value) / 1_000), ...number(2, 0)]);
const mark = [0x6b, 0x38, 0x73, 0];
const envelope = (kind: string, message: number[]): number[] => [
  ...mark,
  ...field(1, [...text(1, "meta.k8s.io/v1"), ...text(2, kind)]),
  ...field(2, message),
  ...text(3, ""),
  ...text(4, ""),
];

type Meta = AnyObject["metadata"];

function metadata(meta: Partial<Meta>): number[] {
  const owners = (meta.ownerReferences ?? []).flatMap(
    ({ kind, name, uid, apiVersion, controller, blockOwnerDeletion }) =>
      field(13, [
        ...text(1, kind),
        ...text(3, name),
        ...text(4, uid),
        ...text(5, apiVersion),
        ...(controller === undefined ? [] : number(6, Number(controller))),
        ...(blockOwnerDeletion === undefined ? [] : number(7, Number(blockOwnerDeletion))),
      ]),
  );
  return [
    ...text(1, meta.name ?? ""),
    ...text(2, meta.generateName ?? ""),
    ...text(3, meta.namespace ?? ""),
    ...text(4, ""),
    ...text(5, meta.uid ?? ""),
    ...text(6, meta.resourceVersion ?? ""),
    ...number(7, meta.generation ?? 0),
    ...(meta.creationTimestamp === undefined ? field(8, []) : time(8, meta.creationTimestamp)),
    ...(meta.deletionTimestamp === undefined ? [] : time(9, meta.deletionTimestamp)),
    ...(meta.deletionGracePeriodSeconds === undefined ? [] : number(10, meta.deletionGracePeriodSeconds)),
    ...entries(11, meta.labels),
    ...entries(12, meta.annotations),
    ...owners,
    ...(meta.finalizers ?? []).flatMap((finalizer) => text(14, finalizer)),
    ...field(17, text(1, "kubectl")),
  ];
}

const object = (meta: Partial<Meta>): number[] => field(1, metadata(meta));

function listOf(items: readonly Partial<Meta>[], more: { next?: string; remaining?: number } = {}): Uint8Array {
  const list = field(1, [
    ...text(1, ""),
    ...text(2, "7"),
    ...text(3, more.next ?? ""),
    ...(more.remaining === undefined ? [] : number(4, more.remaining)),
  ]);
  const message = [...list, ...items.flatMap((item) => field(2, object(item)))];
  return Uint8Array.from(envelope("PartialObjectMetadataList", message));
}

const asked = { apiVersion: "v1", kind: "ConfigMap", path: "/api/v1/configmaps" };
const small = { name: "a", namespace: "ns", uid: "u", resourceVersion: "5", creationTimestamp: "2026-02-03T04:05:06Z" };

test("a list of metadata in protocol buffers is read with its version, its token and what remains", () => {
  const page = readMetadataList(listOf([small], { next: "more", remaining: 41 }), asked);
  expect({ ...page, items: page.items.map(plainObject), bytes: 0 }).toEqual({
    resourceVersion: "7",
    next: "more",
    remaining: 41,
    apiVersion: "v1",
    kind: "ConfigMap",
    isWhole: false,
    isPart: false,
    bytes: 0,
    items: [{ apiVersion: "v1", kind: "ConfigMap", metadata: small }],
  });
  expect(readMetadataList(listOf([]), asked)).toMatchObject({ items: [], next: undefined, remaining: undefined });
});

const words = string({ unit: "binary", maxLength: 20 });
const some = words.filter((word) => word !== "");
const moment = integer({ min: 0, max: 4_000_000_000 }).map((at) =>
  new Date(at * 1_000).toISOString().replace(".000", ""),
);
const optional = { nil: undefined };
const metas = record({
  name: some,
  namespace: option(some, optional),
  uid: words,
  resourceVersion: some,
  generateName: option(some, optional),
  generation: option(integer({ min: 1, max: 2 ** 40 }), optional),
  creationTimestamp: moment,
  deletionTimestamp: option(moment, optional),
  deletionGracePeriodSeconds: option(integer({ min: 0, max: 1_000_000 }), optional),
  labels: option(dictionary(words, words, { minKeys: 1, maxKeys: 3 }), optional),
  annotations: option(dictionary(words, words, { minKeys: 1, maxKeys: 3 }), optional),
  ownerReferences: option(
    array(record({ apiVersion: words, kind: words, name: words, uid: words, controller: constantFrom(true, false) }), {
      minLength: 1,
      maxLength: 3,
    }),
    optional,
  ),
  finalizers: option(array(words, { minLength: 1, maxLength: 3 }), optional),
});

test("every field comes out as it would of JSON, before and after the whole has been read", () => {
  assert(
    property(array(metas, { maxLength: 5 }), (given) => {
      const { items } = readMetadataList(listOf(given), asked);
      expect(items).toHaveLength(given.length);
      for (const [index, meta] of given.entries()) {
        const item = items[index]!;
        for (const name of Object.keys(meta) as (keyof typeof meta)[])
          expect(item.metadata[name]).toEqual(meta[name] as never);
        const plain = plainObject(item).metadata;
        expect(JSON.parse(JSON.stringify(plain))).toEqual(JSON.parse(JSON.stringify(meta)));
        expect(Object.values(plain)).not.toContain(undefined);
      }
    }),
  );
});

test("an answer that ends too early, or is none, is an error that names the request", () => {
  const whole = listOf([{ ...small, labels: { app: "web" }, finalizers: ["x"] }]);
  for (let length = 0; length < whole.length - 4; length++) {
    expect(() => readMetadataList(whole.subarray(0, length), asked)).toThrow(
      "Cannot read the answer to GET /api/v1/configmaps: it is no list of metadata",
    );
  }
  assert(
    property(integer({ min: 4, max: whole.length - 1 }), integer({ min: 0, max: 255 }), (at, byte) => {
      const damaged = whole.slice();
      damaged[at] = byte;
      try {
        readMetadataList(damaged, asked).items.map(plainObject);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
});

test("a server that answers with JSON is read too: metadata alone, or whole objects", () => {
  const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const list = { apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "7" } };
  const partial = { ...list, kind: "PartialObjectMetadataList", items: [{ kind: "Partial", metadata: small }] };
  expect(readMetadataList(encode(partial), asked)).toMatchObject({
    isWhole: false,
    items: [{ apiVersion: "v1", kind: "ConfigMap", metadata: small }],
  });
  const whole = { ...list, apiVersion: "v1", kind: "ConfigMapList", items: [{ metadata: small, data: { a: "b" } }] };
  expect(readMetadataList(encode(whole), asked)).toMatchObject({
    isWhole: true,
    items: [{ apiVersion: "v1", kind: "ConfigMap", metadata: small, data: { a: "b" } }],
  });
});

/** A frame of a watch. */
function event(type: string, raw: number[]): number[] {
  const message = [...text(1, type), ...field(2, field(1, raw))];
  const head = Buffer.alloc(4);
  head.writeUInt32BE(message.length);
  return [...head, ...message];
}

const added = (meta: Partial<Meta>, type = "ADDED"): number[] =>
  event(type, envelope("PartialObjectMetadata", object(meta)));
const end = { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } };

/** A server whose stream is these bytes, in pieces of that size. */
function stream(bytes: readonly number[], size: number) {
  const requests: StreamRequest[] = [];
  return {
    requests,
    stream: async (request: StreamRequest) => {
      requests.push(request);
      for (let at = 0; at < bytes.length; at += size) {
        request.onChunk(Uint8Array.from(bytes.slice(at, at + size)));
        request.signal?.throwIfAborted();
      }
    },
  };
}

test("a streaming list of metadata ends at its bookmark, wherever the pieces of the stream end", async () => {
  const bytes = [
    added({ ...small, name: "a" }),
    added({ ...small, name: "b" }),
    added({ resourceVersion: "6" }, "BOOKMARK"),
    added({ ...small, name: "a", labels: { late: "yes" } }, "MODIFIED"),
    added({ ...small, name: "b" }, "DELETED"),
    added(end, "BOOKMARK"),
    added({ ...small, name: "after" }),
  ].flat();
  for (const size of [1, 7, 64, 10_000]) {
    const seen: string[] = [];
    const server = stream(bytes, size);
    const version = await streamMetadata(server, {
      path: asked.path,
      type: asked,
      labels: "app=web",
      signal: new AbortController().signal,
      onObject: ({ kind, metadata: { name, labels } }) => seen.push(`${kind} ${name} ${labels?.["late"] ?? ""}`),
      onDeleted: ({ metadata: { name } }) => seen.push(`gone ${name}`),
    });
    expect([version, seen]).toEqual(["9", ["ConfigMap a ", "ConfigMap b ", "ConfigMap a yes", "gone b"]]);
    expect(server.requests).toHaveLength(1);
    expect(Object.fromEntries(server.requests[0]!.query as URLSearchParams)).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      labelSelector: "app=web",
    });
  }
});

test("a streaming list that the server ends, or breaks off with a refusal, says so", async () => {
  const options = {
    path: asked.path,
    type: asked,
    signal: new AbortController().signal,
    onObject: () => {},
    onDeleted: () => {},
  };
  expect(await streamMetadata(stream(added(small), 9), options)).toBeUndefined();
  const status = [
    ...field(1, []),
    ...text(2, "Failure"),
    ...text(3, "too old"),
    ...text(4, "Expired"),
    ...number(6, 410),
  ];
  const refused = streamMetadata(stream(event("ERROR", envelope("Status", status)), 9), options);
  expect(refused).rejects.toMatchObject({ code: 410, reason: "Expired" });
  await refused.catch(() => {});
});

test("a frame that no server sends is refused before it is waited for", () => {
  const frames = new ProtobufFrameReader(() => {});
  expect(() => frames.push(new TextEncoder().encode('{"type":"ADDED"}'))).toThrow("a frame is too long");
});
