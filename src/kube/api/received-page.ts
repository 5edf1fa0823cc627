/** The page of a list that one request brought. */
import { isFields } from "../../resource/json.ts";
import { flawOf } from "./flaws.ts";

export interface ReceivedPage<T> {
  /** Empty for kinds without versions, such as metrics. */
  readonly resourceVersion: string;
  /** The token of the page after it; `undefined` when there is none. */
  readonly next: string | undefined;
  /** Items that follow this page, as far as the server knows: it does not with a selector. */
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

/** Metadata alone comes as a kind of its own. */
const METADATA_KIND = "PartialObjectMetadataList";
/** Items from which the size of all is estimated. */
const SAMPLES = 4;

export interface ReceivedPageOptions {
  readonly path: string;
  /** Called for a malformed item, which is left out, with its flaw. */
  readonly onLeftOut?: ((item: unknown, flaw: string) => void) | undefined;
  /** The type of the items where the list does not tell it. @default the one that it tells */
  readonly type?: { readonly apiVersion: string; readonly kind: string } | undefined;
}

/**
 * Reads a list that came as JSON. Its items get the apiVersion and kind that those of built-in lists come without; one
 * that is malformed costs itself alone.
 *
 * @throws Error when it is no list.
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

/** Nearly always all of them, and then the same array. */
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
    // One that is nested too deeply to be written is rare enough not to count.
  }
  return bytes * step;
}
