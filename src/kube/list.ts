/** Lists a collection page by page. */
import { isGone } from "./api-error.ts";
import type { Transport } from "./transport.ts";

/** As client-go: larger pages cost memory at both ends, smaller ones requests. */
const PAGE_SIZE = 500;

export interface Page {
  /** Of the list as a whole: the same on every page. */
  readonly resourceVersion: string;
  readonly apiVersion: string;
  /** Of the items. */
  readonly kind: string;
}

export interface ListOptions<T> {
  /** Of the collection. */
  readonly path: string;
  /** The most items of a page; 0 asks for everything at once. @default 500 */
  readonly limit?: number | undefined;
  /** A label selector. */
  readonly labels?: string | undefined;
  /** A field selector. */
  readonly fields?: string | undefined;
  /** `"0"` takes any version the server has at hand. @default the newest */
  readonly resourceVersion?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asks for metadata alone, as long as that is enough. @default whole items */
  readonly partial?: PartialList<T> | undefined;
  /**
   * When the continue token expires, lists everything again in one page. What earlier pages gave is then to be
   * forgotten: `onRestart` is called first.
   *
   * @default false
   */
  readonly fullListIfExpired?: boolean | undefined;
  onRestart?(): void;
  onPage(items: T[], page: Page): void | Promise<void>;
}

/** How to list metadata alone: a tenth of the bytes where most items are of no interest. */
export interface PartialList<T> {
  /** What the items are: metadata alone does not say. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Told from its metadata: the page with such an item, and all pages after it, are asked for whole. Read once for each page. */
  readonly isWanted: (item: T) => boolean;
}

/** Servers that have no such form answer with whole items. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

interface List<T> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string | undefined };
  readonly items: T[] | null;
}

/**
 * Lists a collection; each page is handed over before the next is asked for.
 *
 * @returns the resource version of the first page, from which a watch goes on, and the number of pages.
 * @throws ApiError, with 410 when the continue token expired on the way.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
export async function listPages<T>(
  transport: Pick<Transport, "request">,
  options: ListOptions<T>,
): Promise<{ resourceVersion: string; pages: number }> {
  let limit = options.limit ?? PAGE_SIZE;
  let next: string | undefined;
  let first: string | undefined;
  let pages = 0;
  let { partial } = options;
  do {
    let list: List<T>;
    try {
      const query = queryOf(options, limit, next);
      const { path, signal } = options;
      const accept = partial === undefined ? undefined : METADATA_ONLY;
      list = await transport.request<List<T>>({ method: "GET", path, query, accept, signal, traffic: "list" });
    } catch (error) {
      if (next === undefined || !options.fullListIfExpired || !isGone(error)) throw error;
      limit = 0;
      next = undefined;
      first = undefined;
      options.onRestart?.();
      continue;
    }
    const isPartial = partial !== undefined && list.kind === "PartialObjectMetadataList";
    if (isPartial) {
      const { isWanted } = partial!;
      if (list.items?.some((item) => isWanted(item))) {
        partial = undefined;
        continue; // the token of the page before gives the same page again
      }
    }
    pages++;
    first ??= list.metadata.resourceVersion;
    next = list.metadata.continue || undefined;
    const items = list.items ?? [];
    const { apiVersion, kind } = isPartial ? partial! : itemsOf(list);
    if (isPartial) rename(items, { apiVersion, kind });
    else fillIn(items, apiVersion, kind);
    await options.onPage(items, { resourceVersion: first, apiVersion, kind });
  } while (next !== undefined || first === undefined);
  return { resourceVersion: first, pages };
}

function itemsOf(list: List<unknown>): { apiVersion: string; kind: string } {
  return { apiVersion: list.apiVersion, kind: list.kind.endsWith("List") ? list.kind.slice(0, -4) : list.kind };
}

/** Metadata alone comes as a kind of its own. */
function rename(items: unknown[], type: { apiVersion: string; kind: string }): void {
  for (const item of items as { apiVersion?: string; kind?: string }[]) {
    item.apiVersion = type.apiVersion;
    item.kind = type.kind;
  }
}

/** The items of built-in lists come without apiVersion and kind. */
function fillIn(items: unknown[], apiVersion: string, kind: string): void {
  for (const item of items as { apiVersion?: string; kind?: string }[]) {
    item.apiVersion ??= apiVersion;
    item.kind ??= kind;
  }
}

function queryOf<T>(options: ListOptions<T>, limit: number, next: string | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (limit > 0) query.set("limit", String(limit));
  if (options.labels) query.set("labelSelector", options.labels);
  if (options.fields) query.set("fieldSelector", options.fields);
  // The token carries the version of the first page; the server refuses both together.
  if (next !== undefined) query.set("continue", next);
  else if (options.resourceVersion) query.set("resourceVersion", options.resourceVersion);
  return query;
}
