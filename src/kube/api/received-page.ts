/** The page of a list that one request brought. */
import { isFields } from "../../resource/json.ts";
import { flawOf } from "./flaws.ts";

export interface ReceivedPage<T> {
  /** Empty for kinds without versions, such as metrics. */
  readonly resourceVersion: string;
  /** The token of the next page; `undefined` when there is none. */
  readonly next: string | undefined;
  /** The number of items after this page, if the server reports it; with a selector it does not. */
  readonly remaining: number | undefined;
  readonly items: T[];
  readonly apiVersion: string;
  /** The kind of the items. */
  readonly kind: string;
  /** Whether the server says that this is the requested part of the collection. */
  readonly isPart: boolean;
  /** Whether whole objects came, and not only metadata. */
  readonly isWhole: boolean;
  /** The estimated bytes of all items. */
  readonly bytes: () => number;
}

/** The kind of lists that consist of metadata alone. */
const METADATA_KIND = "PartialObjectMetadataList";
/** The number of items from which the size of all is estimated. */
const SAMPLES = 4;

export interface ReceivedPageOptions {
  readonly path: string;
  /** Called for a malformed item, which is left out, with its flaw. */
  readonly onLeftOut?: ((item: unknown, flaw: string) => void) | undefined;
  /** The type of the items for a list that does not name it. @default the one in the list */
  readonly type?: { readonly apiVersion: string; readonly kind: string } | undefined;
}

/**
 * Reads a list in JSON. Its items get the apiVersion and kind that items of built-in lists lack; a malformed item is
 * left out alone.
 *
 * @throws Error when the value is not a list.
 */
export function receivedPage<T>(answer: unknown, options: ReceivedPageOptions): ReceivedPage<T> {
  const refuse = (why: string): never => {
    throw new Error(`Cannot list ${options.path}: the answer is no list: ${why}`);
  };
  if (!isFields(answer)) return refuse("it is no object");
  const { apiVersion, kind, metadata = {}, items: list = null } = answer;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return refuse("it has no apiVersion and kind");
  if (list !== null && !Array.isArray(list)) return refuse("items is no list");
  if (!isFields(metadata)) return refuse("metadata is no object");
  const { resourceVersion = "", continue: next = "", remainingItemCount: remaining, shardInfo } = metadata;
  if (typeof resourceVersion !== "string") return refuse("metadata.resourceVersion is no string");
  if (typeof next !== "string") return refuse("metadata.continue is no string");
  const items = wellFormed(list ?? [], {
    onLeftOut: options.onLeftOut,
    isVersioned: resourceVersion !== "",
  });
  const isPartial = kind === METADATA_KIND && options.type !== undefined;
  const type = isPartial ? options.type : { apiVersion, kind: kind.endsWith("List") ? kind.slice(0, -4) : kind };
  for (const item of items as { apiVersion?: unknown; kind?: unknown }[]) {
    if (isPartial || typeof item.apiVersion !== "string") item.apiVersion = type.apiVersion;
    if (isPartial || typeof item.kind !== "string") item.kind = type.kind;
  }
  return {
    resourceVersion,
    next: next === "" ? undefined : next,
    remaining: typeof remaining === "number" && remaining >= 0 ? remaining : undefined,
    items: items as T[],
    ...type,
    isPart: shardInfo !== undefined && shardInfo !== null,
    isWhole: !isPartial,
    bytes: () => bytesOf(items),
  };
}

/** Returns the well-formed items: nearly always all of them, as the same array. */
function wellFormed(
  items: unknown[],
  { onLeftOut, isVersioned }: Pick<ReceivedPageOptions, "onLeftOut"> & { readonly isVersioned: boolean },
): unknown[] {
  let usable: unknown[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const flaw = flawOf(items[index], isVersioned);
    if (flaw !== undefined) {
      usable ??= items.slice(0, index);
      onLeftOut?.(items[index], flaw);
    } else usable?.push(items[index]);
  }
  return usable ?? items;
}

function bytesOf(items: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(items.length / SAMPLES));
  let bytes = 0;
  try {
    for (let index = 0; index < items.length; index += step) bytes += JSON.stringify(items[index]).length;
  } catch {
    // An object that is nested too deeply to be encoded is rare enough not to count.
  }
  return bytes * step;
}
