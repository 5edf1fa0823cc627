/** The size of the next page of a list, by the length of the list. */

/** The page size of whole objects, that of client-go: smaller pages cost requests, larger ones memory at both ends. */
export const PAGE_SIZE = 500;
/** The page size of metadata, which has a tenth of the bytes. */
export const METADATA_PAGE_SIZE = 2_000;

/**
 * The number of pages into which a long list of whole objects is divided, and the maximum number of objects in one of
 * them.
 */
const WHOLE_PAGES = 20;
const MOST_WHOLE = 5_000;
/** The most objects of a page of metadata. */
const MOST_METADATA = 10_000;
/** About the most bytes of a page, which is held twice while it is read. */
export const MOST_BYTES: number = 16 * 1_024 * 1_024;
/** Pages of fewer objects would cost more requests than memory is worth. */
const LEAST = 50;

/** The progress of a list before its next page is requested. */
export interface SoFar {
  /** Objects of the pages before. */
  readonly seen: number;
  /** Objects that follow; `undefined` when the server does not say, as with a selector. */
  readonly remaining: number | undefined;
  /** The average bytes of an object. */
  readonly bytes: number;
  /** The maximum size of a page in bytes, when memory is limited. @default {@link MOST_BYTES} */
  readonly most?: number | undefined;
}

/**
 * The size of the next page in a list of whole objects. For each page kube-apiserver goes through all remaining
 * objects, so the cost of equal pages grows with the square of their number: 100,000 objects in pages of 500 take it 8
 * seconds of CPU instead of one.
 */
export function wholePageSize({ seen, remaining = 0, bytes, most }: SoFar): number {
  const size = Math.max(PAGE_SIZE, Math.ceil((seen + remaining) / WHOLE_PAGES));
  return fitting(Math.min(MOST_WHOLE, size), bytes, most);
}

/** Like {@link wholePageSize}, for metadata: the remaining items come in as few pages as possible, of equal size. */
export function metadataPageSize({ remaining = 0, bytes, most }: SoFar): number {
  const pages = Math.ceil(remaining / MOST_METADATA);
  const size = pages === 0 ? METADATA_PAGE_SIZE : Math.max(METADATA_PAGE_SIZE, Math.ceil(remaining / pages));
  return fitting(size, bytes, most);
}

/**
 * Returns the size that fits into the limit, but at least a usual page, or {@link LEAST} objects when memory is
 * limited.
 */
function fitting(size: number, bytes: number, most = MOST_BYTES): number {
  return Math.min(size, Math.max(most < MOST_BYTES ? LEAST : PAGE_SIZE, Math.floor(most / bytes)));
}
