/** Moves at the server what managers hold of an object, without touching its values. */
import type { AnyObject, Resource } from "../resource/handle.ts";
import { moved, type Move } from "./manager-entries.ts";
import type { ObjectReader } from "./object-reader.ts";
import type { ObjectWriter } from "./object-writer.ts";
import type { RequestContext } from "./client-scope.ts";

export interface Handover {
  readonly resource: Resource;
  /** As the caches have it: they hold only the entries of this process's own managers. */
  readonly object: AnyObject;
  readonly move: Move;
}

/**
 * The object is read first, because the entries are replaced as a whole.
 *
 * @returns the object afterwards, as it is where there was nothing to move, or where it is another by now; `undefined`
 * when there is none.
 * @throws ApiError 409 when somebody was faster.
 */
export async function handOver(
  { reader, writer }: { readonly reader: ObjectReader; readonly writer: ObjectWriter },
  context: RequestContext,
  { resource, object, move }: Handover,
): Promise<AnyObject | undefined> {
  const now = await reader.findLive(resource, object.metadata);
  if (now === undefined || now.metadata.uid !== object.metadata.uid) return now;
  const managedFields = moved(now.metadata.managedFields ?? [], move);
  if (managedFields === undefined) return now;
  const { uid, resourceVersion } = now.metadata;
  const body = { metadata: { uid, managedFields } };
  return writer.patch(resource, now.metadata, { type: "merge", body, resourceVersion }, context);
}
