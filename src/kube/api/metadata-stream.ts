/** A streaming list of metadata: the beginning of a watch, up to the bookmark that ends the list. */
import type { AnyObject } from "../../resource/handle.ts";
import { ApiError, type Status } from "../errors/api-error.ts";
import { ProtobufFrameReader } from "../encoding/protobuf-frame-reader.ts";
import { MetadataContext, readMetadata } from "./listed-metadata.ts";
import { MOST_PAGE_ITEMS } from "../limits.ts";
import { openEnvelope } from "../encoding/protobuf-envelope.ts";
import { numberTagOf, type ProtobufReader, tagOf } from "../encoding/protobuf-reader.ts";
import type { Transport } from "../transport/transport.ts";

export interface MetadataStreamOptions {
  /** The path of the collection. */
  readonly path: string;
  /** The type of the objects, which metadata alone does not show. */
  readonly type: { readonly apiVersion: string; readonly kind: string };
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly signal: AbortSignal;
  /**
   * Called for an object that exists, or has changed during the list. The object keeps the bytes of its chunk in
   * memory.
   */
  onObject(object: AnyObject): void;
  /** Called for an object that was deleted during the list. */
  onDeleted(object: AnyObject): void;
}

/** Accepts protocol buffers only: a server without them would send JSON, which costs more as events than in pages. */
const ACCEPT = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const EVENT = { type: tagOf(1), object: tagOf(2) } as const;
const RAW = tagOf(1);
const STATUS = { message: tagOf(3), reason: tagOf(4), code: numberTagOf(6) } as const;
/** @see https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists */
export const END_OF_LIST = "k8s.io/initial-events-end";

/**
 * Lists the metadata of a collection on one connection, in the newest state.
 *
 * @returns the resource version of the list, from which a watch continues; `undefined` when the server ended the stream
 * before the list.
 * @throws ApiError, also when the server has no streaming lists; UnreachableError; the signal's reason.
 */
export async function streamMetadata(
  transport: Pick<Transport, "stream">,
  options: MetadataStreamOptions,
): Promise<string | undefined> {
  const { path, signal } = options;
  const ending = new AbortController();
  const context = new MetadataContext(options.type);
  let version: string | undefined;
  const frames = new ProtobufFrameReader((reader, end) => {
    if (version !== undefined) return;
    version = takeEvent(reader, end, { options, context });
    if (version !== undefined) ending.abort();
  });
  try {
    await transport.stream({
      method: "GET",
      path,
      query: queryOf(options),
      accept: ACCEPT,
      signal: AbortSignal.any([signal, ending.signal]),
      onChunk: (chunk) => frames.push(chunk),
    });
  } catch (error) {
    if (version === undefined || signal.aborted) throw error;
  }
  return version;
}

interface Taking {
  readonly options: MetadataStreamOptions;
  readonly context: MetadataContext;
}

/** @returns the version of the list at its end. */
function takeEvent(reader: ProtobufReader, end: number, { options, context }: Taking): string | undefined {
  let type = "";
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === EVENT.type) type = reader.text();
    else if (tag !== EVENT.object) reader.skip(tag);
    else {
      const objectEnd = reader.end();
      while (reader.at < objectEnd) {
        const rawTag = reader.varint();
        if (rawTag !== RAW) {
          reader.skip(rawTag);
          continue;
        }
        const rawEnd = reader.end();
        const message = openEnvelope(reader);
        if (type === "ERROR") throw readStatus(reader, message.end, options.path);
        const object = readMetadata(reader, message.end, context);
        reader.at = rawEnd;
        if (type === "DELETED") options.onDeleted(object);
        else if (type !== "BOOKMARK") pass(type, object, { options, context });
        else if (object.metadata.annotations?.[END_OF_LIST] === "true") return object.metadata.resourceVersion;
      }
    }
  }
  return undefined;
}

function pass(type: string, object: AnyObject, { options, context }: Taking): void {
  if (context.objects++ > MOST_PAGE_ITEMS) {
    throw new Error(`Cannot list ${options.path}: the list has more than ${MOST_PAGE_ITEMS} items`);
  }
  // If the server continues in this way, a page of the list reports it in the log.
  const { name, resourceVersion } = object.metadata;
  if ((type === "ADDED" || type === "MODIFIED") && name !== "" && resourceVersion !== "") options.onObject(object);
}

function readStatus(reader: ProtobufReader, end: number, path: string): ApiError {
  const status: { -readonly [K in keyof Status]: Status[K] } = {};
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === STATUS.message) status.message = reader.text();
    else if (tag === STATUS.reason) status.reason = reader.text();
    else if (tag === STATUS.code) status.code = reader.varint();
    else reader.skip(tag);
  }
  return new ApiError({ method: "GET", path, watch: true, status });
}

function queryOf({ labels, fields }: MetadataStreamOptions): URLSearchParams {
  const query = new URLSearchParams({
    watch: "true",
    allowWatchBookmarks: "true",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
  });
  if (labels) query.set("labelSelector", labels);
  if (fields) query.set("fieldSelector", fields);
  return query;
}
