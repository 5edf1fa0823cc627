/** Reads a watch as a stream of typed events. */
import type { AnyObject } from "../../resource/handle.ts";
import { isFields } from "../../resource/json.ts";
import { ApiError, type Status } from "../errors/api-error.ts";
import type { HeaderValues } from "../config/cluster-config.ts";
import { flawOf, flawOfBookmark } from "./flaws.ts";
import { hasTooManyValues } from "../encoding/json-values.ts";
import { MOST_EVENT_BYTES, MOST_VALUES } from "../limits.ts";
import { LineSplitter } from "../encoding/line-splitter.ts";
import type { StreamFlow } from "../transport/kube-request.ts";
import type { Transport } from "../transport/transport.ts";

export type WatchType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";

export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface WatchOptions {
  /** The path of the collection. */
  readonly path: string;
  /** The resource version to continue from. @default the newest state, after an event for each object */
  readonly resourceVersion?: string | undefined;
  /** A label selector. */
  readonly labels?: string | undefined;
  /** A field selector. */
  readonly fields?: string | undefined;
  /** Ranges of hashes, for servers that divide collections; other servers send everything. */
  readonly shards?: string | undefined;
  /** Seconds after which the server closes the watch in order. @default the server's, 30 to 60 minutes */
  readonly timeoutSeconds?: number | undefined;
  /** Requests a streaming list: the objects first, then a bookmark annotated `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean | undefined;
  /** The kind of the objects; events of other kinds are ignored. @default any kind */
  readonly of?: ObjectType | undefined;
  /** Requests only metadata; the objects get this type. @default whole objects */
  readonly metadataOnly?: ObjectType | undefined;
  /** Milliseconds without a byte after which the watch fails. @default none */
  readonly idleTimeout?: number | undefined;
  /** Headers for this watch, in addition to every request's. */
  readonly headers?: HeaderValues | undefined;
  readonly signal: AbortSignal;
  /** Called synchronously; an error that it throws ends the watch. A bookmark has only a resource version. */
  onEvent(type: WatchType, object: AnyObject): void;
  /** Called with the size of each piece of the stream before it is read; an error that it throws ends the watch. */
  onBytes?(bytes: number): void;
  /** Called with each line before it is parsed. */
  onLine?(line: string): void;
  /** Called for an event of another kind, which is ignored. */
  onOther?(object: AnyObject): void;
  /** Called for a malformed event, which is ignored, with its flaw. */
  readonly onLeftOut?: ((object: unknown, flaw: string) => void) | undefined;
  /** The server has accepted the watch. */
  onOpen?(): void;
  /** Called once, before the first event. */
  onFlow?(flow: StreamFlow): void;
  /** Called after the events of one chunk of the stream. */
  onBatch?(): void;
}

/** The form of metadata; servers that do not support it send whole objects. */
const METADATA: ObjectType = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
const METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/** Matches the white space that may separate events. */
const BLANK = /^\s*$/;

/** The most characters of an unknown type that a message quotes. */
const MOST_SHOWN = 40;

interface WatchEvent {
  readonly type: WatchType | "ERROR";
  readonly object: AnyObject;
}

const TYPES: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]);

/**
 * Watches a collection until the server closes the watch in order.
 *
 * @throws ApiError for an HTTP error before the stream and for an ERROR event within it, UnreachableError when the
 * connection fails, the signal's reason.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
export function watch(transport: Pick<Transport, "stream">, options: WatchOptions): Promise<void> {
  const { path, signal, idleTimeout, headers } = options;
  const lines = new LineSplitter({
    what: `the watch of ${path}`,
    most: MOST_EVENT_BYTES,
    onLine: (line) => {
      if (!BLANK.test(line)) tell(line, options);
    },
  });
  return transport.stream({
    method: "GET",
    path,
    query: queryOf(options),
    accept: options.metadataOnly === undefined ? undefined : METADATA_ONLY,
    headers,
    signal,
    idleTimeout,
    onFlow: (flow) => options.onFlow?.(flow),
    onHeaders: () => options.onOpen?.(),
    onChunk: (chunk) => {
      options.onBytes?.(chunk.length);
      lines.push(chunk);
      options.onBatch?.();
    },
  });
}

function tell(line: string, options: WatchOptions): void {
  // After an abort in the middle of a chunk no further event is passed on.
  if (options.signal.aborted) return;
  options.onLine?.(line);
  const event = parse(line, options.path);
  const flaw = flawOfEvent(event);
  if (flaw === undefined) pass(event as WatchEvent, options);
  else options.onLeftOut?.((event as Partial<WatchEvent> | null)?.object, flaw);
}

/** Passes an event on, unless its object is malformed, which affects no other event. */
function pass(event: WatchEvent, options: WatchOptions): void {
  const { type, object } = event;
  if (type === "ERROR") {
    throw new ApiError({ method: "GET", path: options.path, watch: true, status: object as unknown as Status });
  }
  if (type !== "BOOKMARK" && !isWanted(object, options)) {
    options.onOther?.(object);
    return;
  }
  const flaw = type === "BOOKMARK" ? flawOfBookmark(object) : flawOf(object, true);
  if (flaw !== undefined) {
    options.onLeftOut?.(object, flaw);
    return;
  }
  if (options.metadataOnly !== undefined) Object.assign(object, options.metadataOnly);
  options.onEvent(type, object);
}

function flawOfEvent(event: unknown): string | undefined {
  if (!isFields(event)) return "the event is no object";
  if (!TYPES.has(event["type"])) {
    const typeText = JSON.stringify(event["type"]) as string | undefined;
    return `the event's type is ${typeText?.slice(0, MOST_SHOWN) ?? "missing"}`;
  }
  return isFields(event["object"]) ? undefined : "the event has no object";
}

function isWanted(object: AnyObject, { of, metadataOnly }: WatchOptions): boolean {
  if (of === undefined || isOf(object, of)) return true;
  return metadataOnly !== undefined && isOf(object, METADATA);
}

function isOf(object: AnyObject, { apiVersion, kind }: ObjectType): boolean {
  return object.kind === kind && object.apiVersion === apiVersion;
}

function parse(line: string, path: string): unknown {
  if (hasTooManyValues(line)) {
    throw new Error(
      `Cannot read an event of the watch of ${path}: it holds more than ${MOST_VALUES / 1e6} million values`,
    );
  }
  try {
    return JSON.parse(line) as unknown;
  } catch (cause) {
    throw new Error(`Cannot read an event of the watch of ${path}: it is not JSON`, { cause });
  }
}

function queryOf(options: WatchOptions): URLSearchParams {
  const query = new URLSearchParams({ watch: "true", allowWatchBookmarks: "true" });
  if (options.resourceVersion !== undefined) query.set("resourceVersion", options.resourceVersion);
  if (options.labels) query.set("labelSelector", options.labels);
  if (options.fields) query.set("fieldSelector", options.fields);
  if (options.shards !== undefined) query.set("shardSelector", options.shards);
  if (options.timeoutSeconds !== undefined) query.set("timeoutSeconds", String(options.timeoutSeconds));
  if (options.sendInitialEvents) {
    query.set("sendInitialEvents", "true");
    query.set("resourceVersionMatch", "NotOlderThan");
  }
  return query;
}
