/** The fields of a child that its controller owns, and fields that it claims when managed fields are missing. */
import type { AppliedState } from "../client/applied-memory.ts";
import { CHILD_ANNOTATION, isMadeBy, updatesOf } from "../client/child-entry.ts";
import { holdsMore, undesired } from "../client/field-changes.ts";
import { fieldsNamed, namedFields, type Names, namesIn, namesMore, parseFieldNames } from "../client/field-names.ts";
import { handOver } from "../client/handover.ts";
import { appliedFields, unite } from "../client/managed-fields.ts";
import { type Claim, type Move, without } from "../client/manager-entries.ts";
import { isNotFound } from "../kube/errors/api-error.ts";
import { type AnyObject, groupOf } from "../resource/handle.ts";
import type { FieldsV1, OwnerReference } from "../resource/meta.ts";
import type { PlannedChild } from "./child-plan.ts";
import { canReference } from "./owner.ts";
import type { ObjectRunState } from "./run.ts";

/** The fields of a child that a controller owns. */
export interface Ownership {
  readonly state: AppliedState;
  /** Whether an update owns some of them, as with a newly created object. */
  readonly isUpdated: boolean;
  /** The apiVersion of that update. */
  readonly apiVersion: string | undefined;
}

export function ownershipOf(run: ObjectRunState, child: PlannedChild, live: AnyObject): Ownership {
  const { controller } = run.environment;
  const applied = appliedFields(live, controller);
  const updated = updatesOf(live, controller);
  const byUpdate = updated?.fieldsV1;
  let fields = byUpdate === undefined || applied === undefined ? (byUpdate ?? applied) : unite(byUpdate, applied);
  if (fields !== undefined && byUpdate !== undefined && child.isDefaultedSecret) {
    const { "f:type": _, ...given } = fields;
    fields = given;
  }
  const state = { desired: child.content, live, fields };
  return { state, isUpdated: updated !== undefined, apiVersion: updated?.apiVersion };
}

/**
 * The names of the fields that were desired: from the child's annotation, or from memory if somebody has changed that.
 */
export function namesOn({ environment }: ObjectRunState, child: PlannedChild, live: AnyObject): readonly Names[] {
  const lost = environment.memory.lostNames(child.id, live);
  return [child.namesOn(live), lost].flatMap((names) => parseFieldNames(names ?? "") ?? []);
}

/**
 * Whether the entries no longer show all fields that were once desired: somebody has emptied them, or restored the
 * object without them.
 */
export function isUnclaimed(run: ObjectRunState, child: PlannedChild, { state: { live, fields } }: Ownership): boolean {
  if (fields === undefined) return true;
  return namesOn(run, child, live as AnyObject).some((names) => {
    const surplus = namesMore(names, child.content) ? without(namedFields(names, live), fields) : undefined;
    return surplus !== undefined && holdsMore(child.content, surplus);
  });
}

/** The claim on the desired fields and on formerly desired ones that the annotation names. */
function claimOf(run: ObjectRunState, child: PlannedChild, live: AnyObject): Claim & Pick<Move, "moves"> {
  const { controller } = run.environment;
  const named = namesOn(run, child, live);
  const names = [...named, namesIn(child.content as unknown as FieldsV1)];
  const fields = united(names.map((one) => namedFields(one, live)));
  return {
    manager: controller,
    apiVersion: child.apiVersion,
    fields,
    claims: undesired(child.content, fields) ?? CLAIM,
    // The creator of an object also owns its defaults, and some of them cannot be given up.
    moves: (fields, isApplied) => {
      const rest = child.givenUp === undefined ? fields : (without(fields, child.givenUp) ?? {});
      return isApplied || named.length === 0 ? rest : united(names.map((one) => fieldsNamed(rest, one)));
    },
  };
}

/** The minimum that a manager owns: without any entry the server would give all fields to somebody else. */
export const CLAIM: FieldsV1 = { "f:metadata": { "f:annotations": { [`f:${CHILD_ANNOTATION}`]: {} } } };

function united(sets: readonly FieldsV1[]): FieldsV1 {
  return sets.reduce(unite);
}

/** Moves fields without an owner to the controller's applies, and on request those that its updates own. */
export function takeOver(
  run: ObjectRunState,
  child: PlannedChild,
  { object, asApplied }: { readonly object: AnyObject; readonly asApplied: boolean },
): Promise<AnyObject | undefined> {
  const { core, controller } = run.environment;
  const move = { from: [], to: controller, asApplied };
  const claim = (now: AnyObject) => claimOf(run, child, now);
  return handOver(core, run, { resource: child.kind.resource, object, move, claim });
}

/** Whether the reference names an object with the kind and name of this run's object; its UID is another one. */
export function namesOwner(run: ObjectRunState, child: PlannedChild, reference: OwnerReference): boolean {
  const { apiVersion, kind, metadata } = run.object;
  const isSameName = reference.kind === kind && reference.name === metadata.name;
  const isSameGroup = groupOf(reference.apiVersion) === groupOf(apiVersion);
  // A reference from another namespace names an object of that namespace.
  return isSameName && isSameGroup && canReference(run.object, child.identity.namespace);
}

/**
 * Whether this controller made the object, and the garbage collector would delete it because its owner is missing.
 *
 * @param object a child whose controller reference names an earlier owner of the same name (see {@link namesOwner})
 */
export function isCollectable(run: ObjectRunState, object: AnyObject): boolean {
  const { ownerReferences, deletionTimestamp } = object.metadata;
  if (ownerReferences?.length !== 1 || deletionTimestamp !== undefined) return false;
  return isMadeBy(object, run.environment.managers);
}

/**
 * Whether, on the server, the name of the run's object still belongs to it: the cache may lag, so that the run's object
 * is itself an earlier one. A name belongs to one object at a time, so every other object with it is gone.
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
  run.log.info("Deleting a child that an earlier object with this name has left behind", { child: child.what, uid });
  try {
    const preconditions = { uid, resourceVersion };
    await core.writer.delete(child.kind.resource, child.identity, run, { propagation: "Background", preconditions });
  } catch (error) {
    if (!isNotFound(error)) throw error; // the garbage collector was faster
  }
  memory.forget(child.id);
}
