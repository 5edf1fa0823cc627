/** Lists a collection page by page. */
import type { AnyObject } from "../../resource/handle.ts";
import { isAnswerTooLarge } from "../transport/answer.ts";
import { isGone } from "../errors/api-error.ts";
import { MOST_COLLECTION_BYTES, MOST_PAGE_BYTES } from "../limits.ts";
import { METADATA_LIST, readMetadataList } from "./metadata-list.ts";
import { PageCount } from "./page-count.ts";
import { metadataPageSize, METADATA_PAGE_SIZE, PAGE_SIZE, type SoFar, wholePageSize } from "./page-size.ts";
import { type ReceivedPage, receivedPage } from "./received-page.ts";
import type { Transport } from "../transport/transport.ts";

/** Of pages that are too large this part is asked for. */
const SMALLER = 8;

export interface Page {
  /** Of the list as a whole: the same on every page. */
  readonly resourceVersion: string;
  readonly apiVersion: string;
  /** Of the items. */
  readonly kind: string;
  /** Items that follow this page, as far as the server knows: it does not with a selector. */
  readonly remaining: number | undefined;
  /** Another page follows. */
  readonly hasNext: boolean;
  /** Of all items of this page, estimated. */
  readonly bytes: () => number;
  /** The server has shown the part that `shards` asked for, and not everything. */
  readonly isPart: boolean;
  /** Whether the items are whole, which they also are where a server has no metadata alone. */
  readonly isWhole: boolean;
}

export interface ListOptions<T> {
  /** Of the collection. */
  readonly path: string;
  /** The most items of every page; 0 asks for everything at once. @default 500, and more of long lists */
  readonly limit?: number | undefined;
  /** A label selector. */
  readonly labels?: string | undefined;
  /** A field selector. */
  readonly fields?: string | undefined;
  /** Ranges of hashes, for servers that divide collections; others show everything. */
  readonly shards?: string | undefined;
  /** A state that is not older than this one. @default the newest */
  readonly notOlderThan?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * When the continue token expires, lists everything again in one page. What earlier pages gave is then to be
   * forgotten: `onRestart` is called first.
   *
   * @default false
   */
  readonly fullListIfExpired?: boolean | undefined;
  onRestart?(): void;
  /** An item was left out because nobody could work with it, with what is wrong with it. */
  readonly onLeftOut?: ((item: unknown, flaw: string) => void) | undefined;
  /** Ends the list after this page with `false`. */
  onPage(items: T[], page: Page): void | false | Promise<void | false>;
}

export interface MetadataListOptions extends ListOptions<AnyObject> {
  /** What the items are: metadata alone does not say. */
  readonly type: { readonly apiVersion: string; readonly kind: string };
}

/** What a list was. */
export interface Listed {
  /** Of the first page: a watch goes on from here. Empty for kinds without versions, such as metrics. */
  readonly resourceVersion: string;
  readonly pages: number;
}

/**
 * Lists a collection; each page is handed over before the next is asked for.
 *
 * @throws ApiError, with 410 when the continue token expired on the way; Error for pages that are none, or do not end.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
export function listPages<T>(transport: Pick<Transport, "request">, options: ListOptions<T>): Promise<Listed> {
  const { path, signal, limit, onLeftOut } = options;
  const read = async (asked: Asked): Promise<ReceivedPage<T>> => {
    const answer = await transport.request({ method: "GET", path, signal, traffic: "list", ...asked });
    return receivedPage(answer, { path, onLeftOut });
  };
  return eachPage(options, { read, first: limit ?? PAGE_SIZE, next: wholePageSize });
}

/**
 * As {@link listPages}, with nothing but the metadata of each item.
 *
 * Items hold on to the answer that they came with; `plainObject` makes one that does not.
 */
export function listMetadata(transport: Pick<Transport, "request">, options: MetadataListOptions): Promise<Listed> {
  const { path, signal, limit, type, onLeftOut } = options;
  const read = async (asked: Asked): Promise<ReceivedPage<AnyObject>> => {
    const how = { accept: METADATA_LIST, traffic: "list", binary: true } as const;
    const answer = await transport.request<Uint8Array>({ method: "GET", path, signal, ...how, ...asked });
    return readMetadataList(answer, { ...type, path, onLeftOut });
  };
  return eachPage(options, { read, first: limit ?? METADATA_PAGE_SIZE, next: metadataPageSize });
}

interface Asked {
  readonly query: URLSearchParams;
  readonly mostBytes: number;
}

interface Paging<T> {
  readonly read: (asked: Asked) => Promise<ReceivedPage<T>>;
  readonly first: number;
  readonly next: (soFar: SoFar) => number;
}

async function eachPage<T>(options: ListOptions<T>, { read, first, next }: Paging<T>): Promise<Listed> {
  const pages = new PageCount(options.path);
  /** What was too large once is not asked for again. */
  let most = Infinity;
  let limit = first;
  let token: string | undefined;
  let resourceVersion: string | undefined;
  let seen = 0;
  for (;;) {
    let page: ReceivedPage<T>;
    try {
      const mostBytes = limit === 0 ? MOST_COLLECTION_BYTES : MOST_PAGE_BYTES;
      page = await read({ query: queryOf(options, { limit, token }), mostBytes });
    } catch (error) {
      if (isAnswerTooLarge(error) && limit !== 1 && most > 1) {
        // The same again, of fewer items.
        most = limit === 0 ? Math.min(most, first || PAGE_SIZE) : Math.ceil(limit / SMALLER);
        limit = most;
        continue;
      }
      if (token === undefined || most < Infinity || !options.fullListIfExpired || !isGone(error)) throw error;
      limit = 0;
      token = undefined;
      resourceVersion = undefined;
      seen = 0;
      options.onRestart?.();
      continue;
    }
    pages.add(page);
    resourceVersion ??= page.resourceVersion;
    token = page.next;
    const { items, next: _, ...about } = page;
    seen += items.length;
    const isOver = (await options.onPage(items, { ...about, resourceVersion, hasNext: token !== undefined })) === false;
    if (isOver || token === undefined) return { resourceVersion, pages: pages.count };
    if (options.limit === undefined && limit > 0 && items.length > 0) {
      limit = Math.min(most, next({ seen, remaining: page.remaining, bytes: page.bytes() / items.length }));
    }
  }
}

function queryOf<T>(
  options: ListOptions<T>,
  { limit, token }: { limit: number; token: string | undefined },
): URLSearchParams {
  const query = new URLSearchParams();
  if (limit > 0) query.set("limit", String(limit));
  if (options.labels) query.set("labelSelector", options.labels);
  if (options.fields) query.set("fieldSelector", options.fields);
  if (options.shards !== undefined) query.set("shardSelector", options.shards);
  // The token carries the version of the first page; the server refuses both together.
  if (token !== undefined) query.set("continue", token);
  else if (options.notOlderThan !== undefined) {
    query.set("resourceVersion", options.notOlderThan);
    query.set("resourceVersionMatch", "NotOlderThan");
  }
  return query;
}
