/** Lists a collection page by page. */
import type { AnyObject } from "../resource/handle.ts";
import { isGone } from "./api-error.ts";
import { METADATA_LIST, readMetadataList } from "./metadata-list.ts";
import { metadataPageSize, METADATA_PAGE_SIZE, PAGE_SIZE, type SoFar, wholePageSize } from "./page-size.ts";
import { type ReceivedPage, receivedPage } from "./received-page.ts";
import type { Transport } from "./transport.ts";

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
  /** Ends the list after this page with `false`. */
  onPage(items: T[], page: Page): void | false | Promise<void | false>;
}

export interface MetadataListOptions extends ListOptions<AnyObject> {
  /** What the items are: metadata alone does not say. */
  readonly type: { readonly apiVersion: string; readonly kind: string };
}

/** What a list was. */
export interface Listed {
  /** Of the first page: a watch goes on from here. */
  readonly resourceVersion: string;
  readonly pages: number;
}

/**
 * Lists a collection; each page is handed over before the next is asked for.
 *
 * @throws ApiError, with 410 when the continue token expired on the way.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
export function listPages<T>(transport: Pick<Transport, "request">, options: ListOptions<T>): Promise<Listed> {
  const { path, signal, limit } = options;
  const read = async (query: URLSearchParams): Promise<ReceivedPage<T>> =>
    receivedPage(await transport.request({ method: "GET", path, query, signal, traffic: "list" }));
  return eachPage(options, { read, first: limit ?? PAGE_SIZE, next: wholePageSize });
}

/**
 * As {@link listPages}, with nothing but the metadata of each item.
 *
 * Items hold on to the answer that they came with; `plainObject` makes one that does not.
 */
export function listMetadata(transport: Pick<Transport, "request">, options: MetadataListOptions): Promise<Listed> {
  const { path, signal, limit, type } = options;
  const read = async (query: URLSearchParams): Promise<ReceivedPage<AnyObject>> => {
    const request = {
      method: "GET",
      path,
      query,
      signal,
      accept: METADATA_LIST,
      traffic: "list",
      binary: true,
    } as const;
    return readMetadataList(await transport.request(request), { ...type, path });
  };
  return eachPage(options, { read, first: limit ?? METADATA_PAGE_SIZE, next: metadataPageSize });
}

interface Paging<T> {
  readonly read: (query: URLSearchParams) => Promise<ReceivedPage<T>>;
  readonly first: number;
  readonly next: (soFar: SoFar) => number;
}

async function eachPage<T>(options: ListOptions<T>, { read, first, next }: Paging<T>): Promise<Listed> {
  let limit = first;
  let token: string | undefined;
  let resourceVersion: string | undefined;
  let pages = 0;
  let seen = 0;
  do {
    let page: ReceivedPage<T>;
    try {
      page = await read(queryOf(options, { limit, token }));
    } catch (error) {
      if (token === undefined || !options.fullListIfExpired || !isGone(error)) throw error;
      limit = 0;
      token = undefined;
      resourceVersion = undefined;
      seen = 0;
      options.onRestart?.();
      continue;
    }
    pages++;
    resourceVersion ??= page.resourceVersion;
    token = page.next;
    const { items, next: _, ...about } = page;
    seen += items.length;
    if ((await options.onPage(items, { ...about, resourceVersion, hasNext: token !== undefined })) === false) break;
    if (options.limit === undefined && limit > 0 && token !== undefined) {
      limit = next({ seen, remaining: page.remaining, bytes: page.bytes() / items.length });
    }
  } while (token !== undefined || resourceVersion === undefined);
  return { resourceVersion, pages };
}

function queryOf<T>(
  options: ListOptions<T>,
  { limit, token }: { limit: number; token: string | undefined },
): URLSearchParams {
  const query = new URLSearchParams();
  if (limit > 0) query.set("limit", String(limit));
  if (options.labels) query.set("labelSelector", options.labels);
  if (options.fields) query.set("fieldSelector", options.fields);
  // The token carries the version of the first page; the server refuses both together.
  if (token !== undefined) query.set("continue", token);
  else if (options.notOlderThan !== undefined) {
    query.set("resourceVersion", options.notOlderThan);
    query.set("resourceVersionMatch", "NotOlderThan");
  }
  return query;
}
