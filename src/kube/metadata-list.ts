/** Lists of metadata alone, as the server encodes them: in protocol buffers, or as JSON where it has none. */
import type { AnyObject } from "../resource/handle.ts";
import { MetadataContext, readMetadata } from "./listed-metadata.ts";
import { isMarked, openEnvelope } from "./protobuf-envelope.ts";
import { numberTagOf, ProtobufReader, tagOf } from "./protobuf-reader.ts";
import { type JsonList, type ReceivedPage, receivedPage } from "./received-page.ts";

const PARTIAL = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/**
 * What a list of metadata is asked for as. As protocol buffers it has half the bytes, and what is not needed of it is
 * never made a value. Servers that have no such form answer with JSON, or with whole objects.
 */
export const METADATA_LIST: string = `application/vnd.kubernetes.protobuf;${PARTIAL},application/json;${PARTIAL},application/json`;

const LIST = { metadata: tagOf(1), items: tagOf(2) } as const;
const LIST_META = { resourceVersion: tagOf(2), next: tagOf(3), remaining: numberTagOf(4) } as const;

/** What was asked for. */
export interface MetadataRequest {
  readonly apiVersion: string;
  /** Of the items: metadata alone does not say. */
  readonly kind: string;
  readonly path: string;
}

/** @throws Error that names the request when the answer cannot be read. */
export function readMetadataList(answer: Uint8Array, request: MetadataRequest): ReceivedPage<AnyObject> {
  try {
    return isMarked(answer) ? readProtobuf(answer, request) : readJson(answer, request);
  } catch (cause) {
    throw new Error(`Cannot read the answer to GET ${request.path}: it is no list of metadata`, { cause });
  }
}

function readProtobuf(answer: Uint8Array, { apiVersion, kind }: MetadataRequest): ReceivedPage<AnyObject> {
  const reader = new ProtobufReader(answer);
  const { end } = openEnvelope(reader);
  const context = new MetadataContext({ apiVersion, kind });
  const items: AnyObject[] = [];
  let resourceVersion = "";
  let next: string | undefined;
  let remaining: number | undefined;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === LIST.items) items.push(readMetadata(reader, reader.end(), context));
    else if (tag === LIST.metadata) {
      const metaEnd = reader.end();
      while (reader.at < metaEnd) {
        const metaTag = reader.varint();
        if (metaTag === LIST_META.resourceVersion) resourceVersion = reader.text();
        else if (metaTag === LIST_META.next) next = reader.text() || undefined;
        else if (metaTag === LIST_META.remaining) remaining = reader.varint();
        else reader.skip(metaTag);
      }
    } else reader.skip(tag);
  }
  if (resourceVersion === "") throw new RangeError("the list has no resource version");
  return { resourceVersion, next, remaining, items, apiVersion, kind, isWhole: false, bytes: () => answer.length };
}

function readJson(answer: Uint8Array, { apiVersion, kind }: MetadataRequest): ReceivedPage<AnyObject> {
  const list = JSON.parse(new TextDecoder().decode(answer)) as JsonList<AnyObject>;
  if (list.kind !== "PartialObjectMetadataList") return receivedPage(list);
  // Metadata alone comes as a kind of its own.
  for (const item of list.items ?? []) Object.assign(item, { apiVersion, kind });
  return { ...receivedPage(list), apiVersion, kind, isWhole: false, bytes: () => answer.length };
}
