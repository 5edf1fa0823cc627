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
  do {
    let list: List<T>;
    try {
      const query = queryOf(options, limit, next);
      list = await transport.request<List<T>>({ method: "GET", path: options.path, query, signal: options.signal });
    } catch (error) {
      if (next === undefined || !options.fullListIfExpired || !isGone(error)) throw error;
      limit = 0;
      next = undefined;
      first = undefined;
      options.onRestart?.();
      continue;
    }
    pages++;
    first ??= list.metadata.resourceVersion;
    next = list.metadata.continue || undefined;
    const kind = list.kind.endsWith("List") ? list.kind.slice(0, -4) : list.kind;
    const items = list.items ?? [];
    fillIn(items, list.apiVersion, kind);
    await options.onPage(items, { resourceVersion: first, apiVersion: list.apiVersion, kind });
  } while (next !== undefined || first === undefined);
  return { resourceVersion: first, pages };
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
