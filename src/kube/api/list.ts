/** Lists a collection page by page. */
import type { AnyObject } from "../../resource/handle.ts";
import { isAnswerTooLarge } from "../transport/answer.ts";
import { isGone } from "../errors/api-error.ts";
import {
  MOST_COLLECTION_BYTES,
  MOST_EMPTY_PAGES,
  MOST_PAGE_BYTES,
  MOST_PAGES,
  MOST_TOKEN_CHARACTERS,
} from "../limits.ts";
import { METADATA_LIST, readMetadataList } from "./metadata-list.ts";
import { type ListRoom, NoRoomError } from "./list-room.ts";
import { metadataPageSize, METADATA_PAGE_SIZE, PAGE_SIZE, type SoFar, wholePageSize } from "./page-size.ts";
import { type ReceivedPage, receivedPage } from "./received-page.ts";
import type { Transport } from "../transport/transport.ts";

/** The divisor for the size of a page that was too large, before it is requested again. */
const SMALLER = 8;

export interface Page {
  /** The resource version of the list, the same on every page. */
  readonly resourceVersion: string;
  readonly apiVersion: string;
  /** The kind of the items. */
  readonly kind: string;
  /** The number of items after this page; the server does not report it with a selector. */
  readonly remaining: number | undefined;
  /** Whether another page follows. */
  readonly hasNext: boolean;
  /** The estimated size of this page's items in bytes. */
  readonly bytes: () => number;
  /** Whether the server has sent only the part that `shards` requested, and not everything. */
  readonly isPart: boolean;
  /** Whether the items are whole objects; they also are when a server cannot list metadata only. */
  readonly isWhole: boolean;
}

export interface ListOptions<T> {
  /** The path of the collection. */
  readonly path: string;
  /** The maximum number of items of every page; 0 requests everything at once. @default 500, and more for long lists */
  readonly limit?: number | undefined;
  /** A label selector. */
  readonly labels?: string | undefined;
  /** A field selector. */
  readonly fields?: string | undefined;
  /** Ranges of hashes, for servers that divide collections; other servers send everything. */
  readonly shards?: string | undefined;
  /** The resource version that the list must have reached. @default the newest state */
  readonly notOlderThan?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * If the continue token expires, lists everything again in one page. `onRestart` is called first, because the earlier
   * pages are void then.
   *
   * @default false
   */
  readonly fullListIfExpired?: boolean | undefined;
  onRestart?(): void;
  /** The room in memory. @default there is enough for pages of every size */
  readonly room?: ListRoom | undefined;
  /** Called for a malformed item, which is ignored, with its flaw. */
  readonly onLeftOut?: ((item: unknown, flaw: string) => void) | undefined;
  /** Ends the list after this page with `false`. */
  onPage(items: T[], page: Page): void | false | Promise<void | false>;
}

export interface MetadataListOptions extends ListOptions<AnyObject> {
  /** The type of the items, which metadata does not contain. */
  readonly type: { readonly apiVersion: string; readonly kind: string };
}

/** The result of a list. */
export interface ListResult {
  /**
   * The resource version of the first page, from which a watch continues. Empty for kinds without versions, such as
   * metrics.
   */
  readonly resourceVersion: string;
  readonly pages: number;
}

/**
 * Lists a collection; each page is handed over before the next one is requested.
 *
 * @throws ApiError, with 410 when the continue token has expired; Error for malformed or endless pages.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
export function listPages<T>(transport: Pick<Transport, "request">, options: ListOptions<T>): Promise<ListResult> {
  const { path, signal, limit, onLeftOut } = options;
  const read = async (page: PageRequest): Promise<ReceivedPage<T>> => {
    const answer = await transport.request({ method: "GET", path, signal, traffic: "list", ...page });
    return receivedPage(answer, { path, onLeftOut });
  };
  return eachPage(options, { read, first: limit ?? PAGE_SIZE, next: wholePageSize });
}

/**
 * Like {@link listPages}, but lists only the metadata of each item.
 *
 * Items keep their page in memory; `plainObject` makes a copy that does not.
 */
export function listMetadata(transport: Pick<Transport, "request">, options: MetadataListOptions): Promise<ListResult> {
  const { path, signal, limit, type, onLeftOut } = options;
  const read = async (page: PageRequest): Promise<ReceivedPage<AnyObject>> => {
    const how = { accept: METADATA_LIST, traffic: "list", binary: true } as const;
    const answer = await transport.request<Uint8Array>({ method: "GET", path, signal, ...how, ...page });
    return readMetadataList(answer, { ...type, path, onLeftOut });
  };
  return eachPage(options, { read, first: limit ?? METADATA_PAGE_SIZE, next: metadataPageSize });
}

interface PageRequest {
  readonly query: URLSearchParams;
  readonly mostBytes: number;
}

interface Paging<T> {
  readonly read: (request: PageRequest) => Promise<ReceivedPage<T>>;
  readonly first: number;
  readonly next: (soFar: SoFar) => number;
}

async function eachPage<T>(options: ListOptions<T>, { read, first, next }: Paging<T>): Promise<ListResult> {
  const pages = new PageCount(options.path);
  const { room } = options;
  /** The largest page that is still requested: a size that was too large is not requested again. */
  let most = Infinity;
  let limit = first;
  let token: string | undefined;
  let resourceVersion: string | undefined;
  let seen = 0;
  for (;;) {
    let page: ReceivedPage<T>;
    try {
      if (room !== undefined) await room.make(options.signal);
      if (room?.isFull && seen > 0) throw new NoRoomError(`the list of ${options.path}`);
      const mostBytes = Math.min(limit === 0 ? MOST_COLLECTION_BYTES : MOST_PAGE_BYTES, room?.answerBytes ?? Infinity);
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
      const bytes = page.bytes() / items.length;
      limit = Math.min(most, next({ seen, remaining: page.remaining, bytes, most: room?.pageBytes }));
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

/** Counts the pages of one list, and fails when they do not end. */
class PageCount {
  readonly #path: string;
  #empty = 0;
  /**
   * An earlier token, replaced each time that the count has doubled: so every circle is found, although only one token
   * is kept.
   */
  #earlier: string | undefined;
  count = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws Error when the list does not get on. */
  add({ next, items }: Pick<ReceivedPage<unknown>, "next" | "items">): void {
    const count = ++this.count;
    this.#empty = items.length === 0 ? this.#empty + 1 : 0;
    if (next === undefined) return;
    if (next.length > MOST_TOKEN_CHARACTERS) this.#refuse(`a token has more than ${MOST_TOKEN_CHARACTERS} characters`);
    if (next === this.#earlier) this.#refuse("a page names one before it as the next");
    if (this.#empty > MOST_EMPTY_PAGES) this.#refuse(`${this.#empty} pages in a row have no items`);
    if (count >= MOST_PAGES) this.#refuse(`it has more than ${MOST_PAGES} pages`);
    if ((count & (count - 1)) === 0) this.#earlier = next;
  }

  #refuse(why: string): never {
    throw new Error(`Cannot list ${this.#path}: the list does not end: ${why}`);
  }
}
