/** What one request of a list brought. */

export interface ReceivedPage<T> {
  readonly resourceVersion: string;
  /** The token of the page after it; `undefined` when there is none. */
  readonly next: string | undefined;
  /** Items that follow this page, as far as the server knows: it does not with a selector. */
  readonly remaining: number | undefined;
  readonly items: T[];
  readonly apiVersion: string;
  /** Of the items. */
  readonly kind: string;
  /** More than metadata came. */
  readonly isWhole: boolean;
  /** Of all items, estimated. */
  readonly bytes: () => number;
}

/** Items from which the size of all is estimated. */
const SAMPLES = 4;

/** A list as JSON. */
export interface JsonList<T> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string | undefined;
    readonly remainingItemCount?: number | undefined;
  };
  readonly items: T[] | null;
}

/** The items of built-in lists come without apiVersion and kind, and get them here. */
export function receivedPage<T>(list: JsonList<T>): ReceivedPage<T> {
  const { apiVersion, metadata } = list;
  const kind = list.kind.endsWith("List") ? list.kind.slice(0, -4) : list.kind;
  const items = list.items ?? [];
  for (const item of items as { apiVersion?: string; kind?: string }[]) {
    item.apiVersion ??= apiVersion;
    item.kind ??= kind;
  }
  const { resourceVersion, remainingItemCount: remaining } = metadata;
  const bytes = (): number => bytesOf(items);
  return {
    resourceVersion,
    next: metadata.continue || undefined,
    remaining,
    items,
    apiVersion,
    kind,
    isWhole: true,
    bytes,
  };
}

function bytesOf(items: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(items.length / SAMPLES));
  let bytes = 0;
  for (let index = 0; index < items.length; index += step) bytes += JSON.stringify(items[index]).length;
  return bytes * step;
}
