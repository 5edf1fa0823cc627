/** Lists of metadata alone, as the server encodes them: in protocol buffers, or in JSON by servers without those. */
import type { AnyObject } from "../../resource/handle.ts";
import { checkValues } from "../transport/answer.ts";
import { MetadataContext, readMetadata } from "./listed-metadata.ts";
import { isMarked, openEnvelope } from "../encoding/protobuf-envelope.ts";
import { numberTagOf, ProtobufReader, tagOf } from "../encoding/protobuf-reader.ts";
import { MOST_PAGE_ITEMS } from "../limits.ts";
import { type ReceivedPage, receivedPage, type ReceivedPageOptions } from "./received-page.ts";

const PARTIAL = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/**
 * The accepted forms of a list of metadata. As protocol buffers it has half the bytes, and fields that nobody reads are
 * never decoded. Servers that have no such form answer with JSON, or with whole objects.
 */
export const METADATA_LIST: string = `application/vnd.kubernetes.protobuf;${PARTIAL},application/json;${PARTIAL},application/json`;

const LIST = { metadata: tagOf(1), items: tagOf(2) } as const;
const LIST_META = { resourceVersion: tagOf(2), next: tagOf(3), remaining: numberTagOf(4) } as const;

/** The request that was answered. */
export interface MetadataRequest extends Pick<ReceivedPageOptions, "onLeftOut"> {
  readonly apiVersion: string;
  /** The kind of the items, which metadata alone does not tell. */
  readonly kind: string;
  readonly path: string;
}

/** @throws Error that names the request when the answer cannot be read. */
export function readMetadataList(answer: Uint8Array, request: MetadataRequest): ReceivedPage<AnyObject> {
  if (!isMarked(answer)) return readJson(answer, request);
  try {
    return readProtobuf(answer, request);
  } catch (cause) {
    throw unreadable(request.path, cause);
  }
}

function unreadable(path: string, cause: unknown): Error {
  return new Error(`Cannot read the answer to GET ${path}: it is no list of metadata`, { cause });
}

function readProtobuf(answer: Uint8Array, request: MetadataRequest): ReceivedPage<AnyObject> {
  const { apiVersion, kind } = request;
  const reader = new ProtobufReader(answer);
  const { end } = openEnvelope(reader);
  const context = new MetadataContext({ apiVersion, kind });
  const items: AnyObject[] = [];
  let resourceVersion = "";
  let next: string | undefined;
  let remaining: number | undefined;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === LIST.items) {
      const item = readMetadata(reader, reader.end(), context);
      const { name, resourceVersion: version } = item.metadata;
      if (name === "") request.onLeftOut?.(item, "metadata.name is missing");
      else if (version === "") request.onLeftOut?.(item, "metadata.resourceVersion is missing");
      else if (items.push(item) > MOST_PAGE_ITEMS) throw new RangeError(`it has more than ${MOST_PAGE_ITEMS} items`);
    } else if (tag === LIST.metadata) {
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
  const about = { isWhole: false, isPart: false, bytes: () => answer.length };
  return { resourceVersion, next, remaining, items, apiVersion, kind, ...about };
}

function readJson(answer: Uint8Array, request: MetadataRequest): ReceivedPage<AnyObject> {
  const { path, apiVersion, kind, onLeftOut } = request;
  checkValues(answer, { method: "GET", path });
  let list: unknown;
  try {
    list = JSON.parse(new TextDecoder().decode(answer));
  } catch (error) {
    throw unreadable(path, error);
  }
  const page = receivedPage<AnyObject>(list, { path, onLeftOut, type: { apiVersion, kind } });
  return page.isWhole ? page : { ...page, bytes: () => answer.length };
}
