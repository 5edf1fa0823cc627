/** Metadata of objects as the API server encodes it in protocol buffers. */
import type { AnyObject } from "../../resource/handle.ts";
import type { FieldsV1, ManagedFieldsEntry, ObjectMeta, OwnerReference } from "../../resource/meta.ts";
import { numberTagOf, ProtobufReader, tagOf } from "../encoding/protobuf-reader.ts";
import { setField } from "../../resource/any-key.ts";

/** @see https://github.com/kubernetes/apimachinery/blob/master/pkg/apis/meta/v1/generated.proto */
const META = {
  name: tagOf(1),
  generateName: tagOf(2),
  namespace: tagOf(3),
  uid: tagOf(5),
  resourceVersion: tagOf(6),
  generation: numberTagOf(7),
  creationTimestamp: tagOf(8),
  deletionTimestamp: tagOf(9),
  deletionGracePeriodSeconds: numberTagOf(10),
  labels: tagOf(11),
  annotations: tagOf(12),
  ownerReferences: tagOf(13),
  finalizers: tagOf(14),
  managedFields: tagOf(17),
} as const;
const OWNER = {
  kind: tagOf(1),
  name: tagOf(3),
  uid: tagOf(4),
  apiVersion: tagOf(5),
  controller: numberTagOf(6),
  blockOwnerDeletion: numberTagOf(7),
} as const;
const MANAGED = {
  manager: tagOf(1),
  operation: tagOf(2),
  apiVersion: tagOf(3),
  time: tagOf(4),
  fieldsType: tagOf(6),
  fieldsV1: tagOf(7),
  subresource: tagOf(8),
} as const;
/** The JSON of a set of fields. */
const RAW = tagOf(1);
const ENTRY = { key: tagOf(1), value: tagOf(2) } as const;
const SECONDS = numberTagOf(1);
/** The field `metadata` of `PartialObjectMetadata`, and of every other object. */
const METADATA = tagOf(1);

/**
 * The state of reading one response: the type of its objects, and the namespace of the last one, because lists are
 * sorted by it.
 */
export class MetadataContext {
  readonly apiVersion: string;
  readonly kind: string;
  namespace = "";
  /** The objects counted so far. */
  objects = 0;

  constructor({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) {
    this.apiVersion = apiVersion;
    this.kind = kind;
  }
}

/**
 * Reads an object of which only the metadata was sent; most fields are decoded when they are first read.
 *
 * It holds on to the bytes of the whole answer: whoever keeps it makes a {@link plainObject} of it.
 */
export function readMetadata(reader: ProtobufReader, end: number, context: MetadataContext): AnyObject {
  let metadata: ListedMetadata | undefined;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === METADATA) metadata = new ListedMetadata(reader, context);
    else reader.skip(tag);
  }
  if (metadata === undefined) throw new RangeError("an object has no metadata");
  return { apiVersion: context.apiVersion, kind: context.kind, metadata };
}

/** The object as JSON would have brought it, without `managedFields`. It keeps no bytes of the response in memory. */
export function plainObject(object: AnyObject): AnyObject {
  const { apiVersion, kind, metadata } = object;
  return metadata instanceof ListedMetadata ? { apiVersion, kind, metadata: metadata.whole } : object;
}

class ListedMetadata implements ObjectMeta {
  name = "";
  namespace: string | undefined = undefined;
  uid = "";
  resourceVersion = "";
  readonly #reader: ProtobufReader;
  readonly #from: number;
  readonly #end: number;
  #labelled = false;
  #owned = false;
  #whole: ObjectMeta | undefined;

  constructor(reader: ProtobufReader, context: MetadataContext) {
    const end = reader.end();
    this.#reader = reader;
    this.#from = reader.at;
    this.#end = end;
    while (reader.at < end) {
      const tag = reader.varint();
      if (tag === META.name) this.name = reader.text();
      else if (tag === META.namespace) this.#inNamespace(reader.text(), context);
      else if (tag === META.uid) this.uid = reader.text();
      else if (tag === META.resourceVersion) this.resourceVersion = reader.text();
      else {
        if (tag === META.labels) this.#labelled = true;
        else if (tag === META.ownerReferences) this.#owned = true;
        reader.skip(tag);
      }
    }
  }

  get whole(): ObjectMeta {
    this.#whole ??= readAll(new ProtobufReader(this.#reader.bytes, this.#from), this.#end);
    return this.#whole;
  }

  get ownerReferences(): readonly OwnerReference[] | undefined {
    return this.#owned ? this.whole.ownerReferences : undefined;
  }

  get labels(): Readonly<Record<string, string>> | undefined {
    return this.#labelled ? this.whole.labels : undefined;
  }

  get annotations(): Readonly<Record<string, string>> | undefined {
    return this.whole.annotations;
  }

  get finalizers(): readonly string[] | undefined {
    return this.whole.finalizers;
  }

  get generation(): number | undefined {
    return this.whole.generation;
  }

  get generateName(): string | undefined {
    return this.whole.generateName;
  }

  get creationTimestamp(): string {
    return this.whole.creationTimestamp;
  }

  get deletionTimestamp(): string | undefined {
    return this.whole.deletionTimestamp;
  }

  get deletionGracePeriodSeconds(): number | undefined {
    return this.whole.deletionGracePeriodSeconds;
  }

  get managedFields(): readonly ManagedFieldsEntry[] {
    const entries: ManagedFieldsEntry[] = [];
    const reader = new ProtobufReader(this.#reader.bytes, this.#from);
    while (reader.at < this.#end) {
      const tag = reader.varint();
      if (tag === META.managedFields) entries.push(readManaged(reader));
      else reader.skip(tag);
    }
    return entries;
  }

  /** Sets the namespace; equal namespaces share one string. */
  #inNamespace(namespace: string, context: MetadataContext): void {
    if (namespace === "") return;
    if (namespace !== context.namespace) context.namespace = namespace;
    this.namespace = context.namespace;
  }
}

type Draft = { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] };

/** Reads all metadata. Fields that JSON would leave out are absent; their order is that of JSON. */
function readAll(reader: ProtobufReader, end: number): ObjectMeta {
  const meta: Draft = { name: "", uid: "", resourceVersion: "", creationTimestamp: "" };
  const labels: Record<string, string> = {};
  const annotations: Record<string, string> = {};
  const owners: OwnerReference[] = [];
  const finalizers: string[] = [];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === META.name) meta.name = reader.text();
    else if (tag === META.generateName) meta.generateName = reader.text() || undefined;
    else if (tag === META.namespace) meta.namespace = reader.text() || undefined;
    else if (tag === META.uid) meta.uid = reader.text();
    else if (tag === META.resourceVersion) meta.resourceVersion = reader.text();
    else if (tag === META.generation) meta.generation = reader.varint() || undefined;
    else if (tag === META.creationTimestamp) meta.creationTimestamp = readTime(reader) ?? (null as never);
    else if (tag === META.deletionTimestamp) meta.deletionTimestamp = readTime(reader);
    else if (tag === META.deletionGracePeriodSeconds) meta.deletionGracePeriodSeconds = reader.varint();
    else if (tag === META.labels) readEntry(reader, (meta.labels = labels));
    else if (tag === META.annotations) readEntry(reader, (meta.annotations = annotations));
    else if (tag === META.ownerReferences) (meta.ownerReferences = owners).push(readOwner(reader));
    else if (tag === META.finalizers) (meta.finalizers = finalizers).push(reader.text());
    else reader.skip(tag);
  }
  for (const field of OPTIONAL) if (meta[field] === undefined) delete meta[field];
  return meta;
}

const OPTIONAL = ["generateName", "namespace", "generation", "deletionTimestamp"] as const;

function readEntry(reader: ProtobufReader, into: Record<string, string>): void {
  const end = reader.end();
  let key = "";
  let value = "";
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === ENTRY.key) key = reader.text();
    else if (tag === ENTRY.value) value = reader.text();
    else reader.skip(tag);
  }
  setField(into, key, value);
}

function readOwner(reader: ProtobufReader): OwnerReference {
  const end = reader.end();
  const owner: { -readonly [K in keyof OwnerReference]: OwnerReference[K] } = {
    apiVersion: "",
    kind: "",
    name: "",
    uid: "",
  };
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === OWNER.apiVersion) owner.apiVersion = reader.text();
    else if (tag === OWNER.kind) owner.kind = reader.text();
    else if (tag === OWNER.name) owner.name = reader.text();
    else if (tag === OWNER.uid) owner.uid = reader.text();
    else if (tag === OWNER.controller) owner.controller = reader.varint() !== 0;
    else if (tag === OWNER.blockOwnerDeletion) owner.blockOwnerDeletion = reader.varint() !== 0;
    else reader.skip(tag);
  }
  return owner;
}

function readManaged(reader: ProtobufReader): ManagedFieldsEntry {
  const end = reader.end();
  const entry: { -readonly [K in keyof ManagedFieldsEntry]: ManagedFieldsEntry[K] } = {};
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === MANAGED.manager) entry.manager = reader.text() || undefined;
    else if (tag === MANAGED.operation) entry.operation = reader.text() || undefined;
    else if (tag === MANAGED.apiVersion) entry.apiVersion = reader.text() || undefined;
    else if (tag === MANAGED.time) entry.time = readTime(reader);
    else if (tag === MANAGED.fieldsType) entry.fieldsType = reader.text() || undefined;
    else if (tag === MANAGED.subresource) entry.subresource = reader.text() || undefined;
    else if (tag === MANAGED.fieldsV1) {
      const rawEnd = reader.end();
      while (reader.at < rawEnd) {
        const rawTag = reader.varint();
        if (rawTag === RAW) entry.fieldsV1 = JSON.parse(reader.text()) as FieldsV1;
        else reader.skip(rawTag);
      }
    } else reader.skip(tag);
  }
  return entry;
}

/** Reads a time, such as `2026-02-28T09:30:00Z`; the server keeps whole seconds. */
function readTime(reader: ProtobufReader): string | undefined {
  const end = reader.end();
  let seconds: number | undefined;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === SECONDS) seconds = reader.varint();
    else reader.skip(tag);
  }
  return seconds === undefined ? undefined : `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}
