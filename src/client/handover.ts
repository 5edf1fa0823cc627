/** Moves the ownership of fields from some managers to another, without changing any value. */
import type { AnyObject, Resource } from "../resource/handle.ts";
import { type Claim, claimed, moved, type Move } from "./manager-entries.ts";
import type { ObjectReader } from "./object-reader.ts";
import type { ObjectWriter } from "./object-writer.ts";
import type { RequestContext } from "./client-scope.ts";

export interface Handover {
  readonly resource: Resource;
  /** The cached object, which has only the entries of this process's own managers. */
  readonly object: AnyObject;
  readonly move: Move;
  /** Computes the claimed and the moved fields from the object that was read. */
  readonly claim?: (object: AnyObject) => Claim & Pick<Move, "moves">;
}

/**
 * Moves the entries. The object is read first, because all entries are replaced at once.
 *
 * @returns the object afterwards, unchanged if there was nothing to move or if it is another object by now; `undefined`
 * if it does not exist.
 * @throws ApiError 409 when the object was changed concurrently.
 */
export async function handOver(
  { reader, writer }: { readonly reader: ObjectReader; readonly writer: ObjectWriter },
  context: RequestContext,
  { resource, object, move, claim }: Handover,
): Promise<AnyObject | undefined> {
  const now = await reader.findLive(resource, object.metadata);
  if (now === undefined || now.metadata.uid !== object.metadata.uid) return now;
  const entries = now.metadata.managedFields ?? [];
  const own = claim?.(now);
  const transferred = moved(entries, { ...move, ...own });
  const managedFields = (own && claimed(transferred ?? entries, own)) ?? transferred;
  if (managedFields === undefined) return now;
  const { uid, resourceVersion } = now.metadata;
  const body = { metadata: { uid, managedFields } };
  return writer.patch(resource, now.metadata, { type: "merge", body, resourceVersion }, context);
}
