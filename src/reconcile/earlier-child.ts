/**
 * Children that an earlier object of the owner's name has left behind. The garbage collector removes them within
 * seconds, unless it has lost track of them: after a crash of the API server that takes minutes, or forever.
 */
import { isMadeBy } from "../client/child-entry.ts";
import { isNotFound } from "../kube/errors/api-error.ts";
import { type AnyObject, groupOf } from "../resource/handle.ts";
import type { OwnerReference } from "../resource/meta.ts";
import type { PlannedChild } from "./child-plan.ts";
import { canReference } from "./owner.ts";
import type { ObjectRunState } from "./run.ts";

/** Whether the reference names an object with the kind and name of this run's object; its UID is another one. */
export function namesOwner(run: ObjectRunState, child: PlannedChild, reference: OwnerReference): boolean {
  const { apiVersion, kind, metadata } = run.object;
  const isSameName = reference.kind === kind && reference.name === metadata.name;
  const isSameGroup = groupOf(reference.apiVersion) === groupOf(apiVersion);
  // A reference from another namespace names an object of that namespace.
  return isSameName && isSameGroup && canReference(run.object, child.identity.namespace);
}

/**
 * Whether the garbage collector would delete the object, for want of an owner, and this controller made it.
 *
 * @param object a child whose controller reference names another object than the owner, as {@link namesOwner} says
 */
export function isCollectable(run: ObjectRunState, object: AnyObject): boolean {
  const { ownerReferences, deletionTimestamp } = object.metadata;
  if (ownerReferences?.length !== 1 || deletionTimestamp !== undefined) return false;
  return isMadeBy(object, run.environment.managers);
}

/**
 * Whether the name of the run's object is still its own, as the server says: the cache may be behind, and the run's
 * object be the earlier one itself. A name belongs to one object at a time, so every other object that had it is gone.
 */
export async function hasItsName({ object, environment }: ObjectRunState): Promise<boolean> {
  const { core, resource } = environment;
  const owner = await core.reader.findLive(resource, object.metadata);
  return owner?.metadata.uid === object.metadata.uid && owner.metadata.deletionTimestamp === undefined;
}

/** Deletes exactly the object that was left behind. @throws ApiError with a conflict when it has changed since. */
export async function deleteEarlier(run: ObjectRunState, child: PlannedChild, object: AnyObject): Promise<void> {
  const { core, memory } = run.environment;
  const { uid, resourceVersion } = object.metadata;
  run.log.info("Deleting a child that an earlier object of the name has left behind", { child: child.what, uid });
  try {
    const preconditions = { uid, resourceVersion };
    await core.writer.delete(child.kind.resource, child.identity, run, { propagation: "Background", preconditions });
  } catch (error) {
    if (!isNotFound(error)) throw error; // the garbage collector was faster
  }
  memory.forget(child.id);
}
