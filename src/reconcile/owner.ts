/** The owner of a child, by owner reference, or by label where a reference is not possible. */
import { CHILD_ANNOTATION, OWNER_UID_LABEL } from "../client/child-entry.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { Key, OwnerReference } from "../resource/meta.ts";

export { CHILD_ANNOTATION, OWNER_UID_LABEL };
/** The annotation with a hash of what was applied, on a child whose values the server may normalise; it is read after a restart. */
export const APPLIED_ANNOTATION = "binnacle.dev/applied";
/** The annotation of a child without an owner reference with `namespace/name` of its owner. */
export const OWNER_ANNOTATION = "binnacle.dev/owner";

/**
 * Returns the reference that makes `owner` the controller of an object that is written by hand: `ownerReferences:
 * [controllerReference(guestbook)]`. `owns` then runs the owner for its changes, and the garbage collector deletes it after the owner.
 * An owner with a namespace can only own objects of its namespace: the garbage collector deletes others.
 *
 * @throws TypeError for an object that has no UID, because the server has not stored it.
 */
export function controllerReference(owner: AnyObject): OwnerReference {
  const { name, uid } = owner.metadata;
  if (!uid) {
    throw new TypeError(
      `Cannot refer to ${owner.kind} ${name} as a controller: it has no UID, take the object that the server has returned`,
    );
  }
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The owner reference that is marked as the controller. */
export function controllerOf(object: AnyObject): OwnerReference | undefined {
  const references = object.metadata.ownerReferences;
  if (references === undefined) return undefined;
  for (const reference of references) if (reference.controller === true) return reference;
  return undefined;
}

/** The UID of the object that a child belongs to, by owner reference or by label. */
export function ownerUid(child: AnyObject): string | undefined {
  const { ownerReferences, labels } = child.metadata;
  // This is called for every object of the cluster, and most have neither.
  return ownerReferences === undefined && labels === undefined ? undefined : ownerOf(child);
}

function ownerOf(child: AnyObject): string | undefined {
  const controller = controllerOf(child);
  if (controller !== undefined) return controller.uid;
  const { labels } = child.metadata;
  return labels !== undefined && Object.hasOwn(labels, OWNER_UID_LABEL) ? labels[OWNER_UID_LABEL] : undefined;
}

/** Whether a child of this owner can carry an owner reference; the garbage collector removes it at once otherwise. */
export function canReference(owner: AnyObject, childNamespace: string | undefined): boolean {
  const { namespace } = owner.metadata;
  return namespace === undefined || namespace === childNamespace;
}

/** The key that a label-tracked child names as its owner. */
export function labelledOwner(child: AnyObject): Key | undefined {
  const { labels, annotations } = child.metadata;
  if (labels === undefined || annotations === undefined || !Object.hasOwn(labels, OWNER_UID_LABEL)) return undefined;
  const owner = Object.hasOwn(annotations, OWNER_ANNOTATION) ? annotations[OWNER_ANNOTATION] : undefined;
  if (owner === undefined) return undefined;
  const slash = owner.indexOf("/");
  return slash < 0 ? { name: owner } : { namespace: owner.slice(0, slash), name: owner.slice(slash + 1) };
}
