/** The owner of a child, by owner reference, or by label when a reference is not possible. */
import { sha256 } from "#runtime/digest";
import { CHILD_ANNOTATION, OWNER_UID_LABEL } from "../client/child-entry.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { Key, OwnerReference } from "../resource/meta.ts";

export { CHILD_ANNOTATION, OWNER_UID_LABEL };
/**
 * The annotation of the child of a controller with the names of the fields that were desired, for kinds with defaults.
 */
export function appliedAnnotation(controller: string): string {
  const name = controller.length > MOST_NAME ? sha256(controller).slice(0, 22) : controller;
  return `${APPLIED_ANNOTATION}.${name}`;
}

/** An annotation's name has at most 63 characters after the slash. */
const MOST_NAME = 63 - "applied.".length;
const APPLIED_ANNOTATION = "binnacle.dev/applied";
/** The annotation of a child that has no owner reference: `namespace/name` of its owner. */
export const OWNER_ANNOTATION = "binnacle.dev/owner";

/**
 * Returns the reference that makes `owner` the controller of an object that the author writes: `ownerReferences:
 * [controllerReference(guestbook)]`. `owns` then runs the owner for its changes, and the garbage collector deletes it
 * after the owner. An owner with a namespace can only own objects of its namespace: the garbage collector deletes
 * others.
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
  // This function is called for every object of the cluster, and most have neither.
  return ownerReferences === undefined && labels === undefined ? undefined : ownerOf(child);
}

function ownerOf(child: AnyObject): string | undefined {
  const controller = controllerOf(child);
  if (controller !== undefined) return controller.uid;
  const { labels } = child.metadata;
  return labels !== undefined && Object.hasOwn(labels, OWNER_UID_LABEL) ? labels[OWNER_UID_LABEL] : undefined;
}

/**
 * The value of a child's annotation: its name in the set, and the owner of the set, in case the owner reference is
 * removed.
 */
export function childMark(name: string, ownerUid: string): string {
  return `${name}${proofOf(ownerUid)}`;
}

/** The name of a child in its owner's set. */
export function childName(child: AnyObject): string {
  const mark = markOf(child) ?? "";
  const proof = PROOF.exec(mark);
  return proof === null ? mark : mark.slice(0, proof.index);
}

/** The keys by which the index finds children: their controller, or else the owner in their mark. */
export function ownerIndexOf(child: AnyObject): string | undefined {
  const { ownerReferences, annotations, labels } = child.metadata;
  // This function is called for every object of the cluster, and most have none of these.
  if (ownerReferences === undefined && annotations === undefined && labels === undefined) return undefined;
  return controllerOf(child)?.uid ?? markedOwner(child) ?? ownerUid(child);
}

/** The index key of the children whose reference to this owner somebody has removed. */
export function proofOf(ownerUid: string): string {
  return `@${ownerUid.slice(0, 8)}`;
}

/** The owner that an object without a controller names in its mark. */
export function markedOwner(child: AnyObject): string | undefined {
  return PROOF.exec(markOf(child) ?? "")?.[0];
}

/** Whether an object is a child of the owner: by its controller or, without one, by its mark or label. */
export function isChildOf(child: AnyObject, owner: AnyObject): boolean {
  const { uid } = owner.metadata;
  return ownerUid(child) === uid || (controllerOf(child) === undefined && markedOwner(child) === proofOf(uid));
}

const PROOF = /@[^@]{8}$/;

function markOf({ metadata: { annotations } }: AnyObject): string | undefined {
  return annotations !== undefined && Object.hasOwn(annotations, CHILD_ANNOTATION)
    ? annotations[CHILD_ANNOTATION]
    : undefined;
}

/**
 * Whether a child of this owner can carry an owner reference; otherwise the garbage collector would remove the child at
 * once.
 */
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
