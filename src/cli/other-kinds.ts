/**
 * Finds finalizers on kinds that none of the modules reconciles, which modules that are gone have left behind. A
 * finalizer is recognized by its manager: a controller's field manager has the controller's name, and so has its
 * finalizer.
 */
import { isApiError, isForbidden } from "../kube/errors/api-error.ts";
import { listMetadata } from "../kube/api/list.ts";
import { collectionPath } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import { type AnyObject, groupKind, type Resource } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { everyKind, type Listed } from "./every-kind.ts";

interface Left {
  readonly example: string;
  objects: number;
  deleting: number;
}

/** Examines the metadata of all objects of all other kinds that may be listed. */
export async function lookThroughOthers(
  transport: Transport,
  known: ReadonlySet<string>,
): Promise<{ readonly notes: readonly string[]; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const unseen: string[] = [];
  let kinds = 0;
  let objects = 0;
  for (const listed of await everyKind(transport)) {
    const { resource, isStored } = listed;
    if (!isStored || known.has(groupKind(resource)) || resource.kind === "Event") continue;
    const kindText = `${resource.kind} (${resource.apiVersion})`;
    try {
      const { count, left } = await lookThrough(transport, listed);
      kinds++;
      objects += count;
      for (const [finalizer, { objects: carrying, deleting, example }] of left) {
        problems.push(
          `${kindText}: nothing removes the finalizer ${finalizer}, because no controller here is for this kind ` +
            `(objects: ${carrying}, being deleted: ${deleting}, such as ${example})`,
        );
      }
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (isForbidden(error)) unseen.push(resource.kind);
    }
  }
  const notes = kinds === 0 ? [] : [`other kinds: ${kinds}, objects: ${objects}`];
  if (unseen.length > 0) notes.push(`not looked through, because listing is forbidden: ${unseen.join(", ")}`);
  return { notes, problems };
}

async function lookThrough(
  transport: Transport,
  { resource, namespaced }: Listed,
): Promise<{ readonly count: number; readonly left: ReadonlyMap<string, Left> }> {
  const { apiVersion, kind, group, version, plural = "" } = resource;
  const mapping = { apiVersion, kind, group, version, plural, namespaced, subresources: [] };
  const left = new Map<string, Left>();
  let count = 0;
  await listMetadata(transport, {
    path: collectionPath(mapping, ""),
    type: resource,
    fullListIfExpired: true,
    onRestart() {
      count = 0;
      left.clear();
    },
    onPage(page) {
      count += page.length;
      for (const object of page) {
        for (const finalizer of ownFinalizers(resource, object)) {
          const known = left.get(finalizer) ?? { example: keyString(object.metadata), objects: 0, deleting: 0 };
          known.objects++;
          if (object.metadata.deletionTimestamp !== undefined) known.deleting++;
          left.set(finalizer, known);
        }
      }
    },
  });
  return { count, left };
}

/** Returns the finalizers that were set by the controller with their name. */
function ownFinalizers(resource: Resource, { metadata }: AnyObject): readonly string[] {
  const { finalizers = [], managedFields = [] } = metadata;
  if (finalizers.length === 0) return finalizers;
  return finalizers.filter((finalizer) =>
    managedFields.some(({ manager, fieldsV1 }) => {
      if (manager === undefined || finalizerName(resource, manager) !== finalizer) return false;
      const set = fieldsV1?.["f:metadata"]?.["f:finalizers"];
      return set !== undefined && Object.hasOwn(set, `v:${JSON.stringify(finalizer)}`);
    }),
  );
}
