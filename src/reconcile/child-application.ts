/** Applies one child if it differs, and never to an object of another owner. */
import { isStub } from "../cache/projection.ts";
import type { AppliedState } from "../client/applied-memory.ts";
import { childUpdates, isMadeBy } from "../client/child-entry.ts";
import type { Patch } from "../client/client.ts";
import { changesOf, holdsMore, isHeld } from "../client/field-changes.ts";
import { differences } from "../client/field-differences.ts";
import { handOver } from "../client/handover.ts";
import { appliedFields, isOwned, unite } from "../client/managed-fields.ts";
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from "../kube/errors/api-error.ts";
import type { AnyObject } from "../resource/handle.ts";
import { type FieldsV1, keyString } from "../resource/meta.ts";
import type { PlannedChild } from "./child-plan.ts";
import { deleteEarlier, hasItsName, isCollectable, namesOwner } from "./earlier-child.ts";
import { AlreadyOwned, NotOwned } from "./errors.ts";
import { APPLIED_ANNOTATION, controllerOf, labelledOwner, OWNER_UID_LABEL, ownerUid } from "./owner.ts";
import type { ObjectRunState } from "./run.ts";

const ATTEMPTS = 5;
const MARK = `f:${APPLIED_ANNOTATION}`;

/**
 * Finds the object of the child's name, in the cache or, where the cache cannot tell, at the server.
 *
 * @throws NotOwned, AlreadyOwned when it is neither this owner's child nor may be adopted.
 */
export function knownChild(run: ObjectRunState, child: PlannedChild): Known | Promise<Known> {
  const { informer } = child.kind;
  const object = informer.store.get(child.key);
  // A selector hides objects of others, and a stub hides their owner.
  const hidden = object === undefined ? informer.labels !== undefined || informer.fields !== undefined : isStub(object);
  return hidden ? found(run, child) : ours(run, child, object);
}

type Known = AnyObject | undefined;

/** Whether the child differs from what is desired. It sends no request. */
export function isDue(run: ObjectRunState, child: PlannedChild): boolean {
  const { log } = run.environment;
  const { live } = child;
  if (live === undefined) return true;
  if (live.metadata.deletionTimestamp !== undefined) return false; // its deletion is an event, after which it is created again
  if (isHeldByFormer(run, live)) return true;
  const held = heldOf(run, child, live);
  if (isThere(run, child, held)) return false;
  if (log.enabled("debug")) {
    run.log.debug("Applying a child that differs", { child: child.what, ...differing(held.state) });
  }
  return true;
}

/** Brings a child that differs to its desired state. */
export async function applyChild(run: ObjectRunState, child: PlannedChild): Promise<void> {
  const { memory, clock } = run.environment;
  const before = child.live;
  let answer: AnyObject | undefined;
  // The cache may lag, so each write names the object that it is meant for, or that there is none.
  for (let attempt = 1; ; attempt++) {
    try {
      answer = await write(run, child);
      break;
    } catch (error) {
      const isGone = child.live !== undefined && isNotFound(error);
      const isOvertaken = isGone || isConflict(error) || isAlreadyExists(error) || isOther(error);
      if (attempt === ATTEMPTS || !isOvertaken) throw error;
      child.live = await found(run, child);
      if (child.live?.metadata.deletionTimestamp !== undefined) return;
    }
  }
  if (answer === undefined) return; // the object has become as desired meanwhile
  child.live = answer;
  if (before !== undefined && memory.isFight(child.id, child.content, clock.now())) {
    const about = { child: child.what, ...differing(heldOf(run, child, before).state) };
    run.log.warn("A child keeps changing back: somebody else writes fields that this controller sets", about);
  }
  if (answer.metadata.deletionTimestamp !== undefined) return;
  const held = heldOf(run, child, answer);
  memory.forgetApplied(child.id);
  if (!isThere(run, child, held)) memory.remember(child.id, answer, held.state);
}

/** Sends the cheapest write that still names its object; `undefined` when there is nothing to write. */
async function write(run: ObjectRunState, child: PlannedChild): Promise<AnyObject | undefined> {
  const { core, controller, managers } = run.environment;
  const { key, live, earlier } = child;
  const { resource } = child.kind;
  if (earlier !== undefined) {
    await deleteEarlier(run, child, earlier);
    child.earlier = undefined;
  }
  if (live === undefined) return core.writer.create(resource, child.body(), run, { key, isStrict: true });
  const isFormer = isHeldByFormer(run, live);
  const held = heldOf(run, child, live);
  if (!isFormer && !held.isUpdated) {
    const body = child.body();
    return core.writer.apply(resource, body, run, { force: true, key, body: JSON.stringify(body) });
  }
  if (!isFormer) {
    const patch = updateOf(child, live, held);
    if (patch === "nothing") return undefined;
    if (patch !== undefined) return core.writer.patch(resource, child.identity, patch, run);
  }
  // An apply removes what is no longer desired, but only among applied fields.
  const move = { from: managers, to: controller, asApplied: !isFormer };
  child.live = await ours(run, child, await handOver(core, run, { resource, object: live, move }));
  return write(run, child);
}

/** The fields of a child that a controller owns. */
interface Held {
  readonly state: AppliedState;
  /** Whether some are owned by an update, as those of a created object are. */
  readonly isUpdated: boolean;
  /** The apiVersion of that update. */
  readonly apiVersion: string | undefined;
}

function heldOf(run: ObjectRunState, child: PlannedChild, live: AnyObject): Held {
  const { controller } = run.environment;
  const applied = appliedFields(live, controller);
  const updated = childUpdates(live, controller);
  const byUpdate = updated?.fieldsV1;
  let fields = byUpdate === undefined || applied === undefined ? (byUpdate ?? applied) : unite(byUpdate, applied);
  if (fields !== undefined) fields = withoutMark(fields);
  if (fields !== undefined && byUpdate !== undefined && child.isDefaultedSecret) {
    const { "f:type": _, ...given } = fields;
    fields = given;
  }
  const state = { desired: child.content, live, fields };
  return { state, isUpdated: updated !== undefined, apiVersion: updated?.apiVersion };
}

/** Whether a write would change nothing. */
function isThere(run: ObjectRunState, child: PlannedChild, { state, isUpdated }: Held): boolean {
  const { memory } = run.environment;
  const { id, content } = child;
  const { fields } = state;
  const live = state.live as AnyObject;
  if (memory.isApplied(id, live, state)) return true;
  // An earlier process may have written the child: the mark shows that, and the owned fields show that nobody has changed
  // them since, because a change takes over the ownership.
  const [digest] = markOf(live);
  if (digest === undefined || digest !== child.digest || fields === undefined) return false;
  // The creator of an object also owns its defaults.
  if (isUpdated) return isHeld({ desired: content, live, fields, dropsNothing: child.dropsNothing });
  if (!isOwned(content, fields)) return false;
  memory.remember(id, live, state);
  return true;
}

/** The merge patch with the effect of an apply; `undefined` when something must be removed or only the server can merge. */
function updateOf(child: PlannedChild, live: AnyObject, { state, apiVersion }: Held): Patch | "nothing" | undefined {
  const { content } = child;
  const desired = content as unknown as Record<string, unknown>;
  const fields = state.fields!;
  const [, shape] = markOf(live);
  if (apiVersion !== child.apiVersion) return undefined;
  const isMarked = child.digest !== undefined;
  const isSameShape = isMarked && shape === child.shape;
  if (!isSameShape && holdsMore(desired, fields)) return undefined;
  const from = live as unknown as Record<string, unknown>;
  const { mayAdd, dropsNothing } = child;
  const changes = changesOf({ desired, live: from, fields, mayAdd, dropsNothing, isSameShape });
  if (changes === undefined) return undefined;
  const isMarkDue = isMarked && live.metadata.annotations?.[APPLIED_ANNOTATION] !== child.mark;
  if (changes.patch === undefined && !isMarkDue) return "nothing";
  const { metadata, ...rest } = (changes.patch ?? {}) as { readonly metadata?: { readonly annotations?: object } };
  const { uid, resourceVersion } = live.metadata;
  const annotations = isMarkDue
    ? { ...metadata?.annotations, [APPLIED_ANNOTATION]: child.mark }
    : metadata?.annotations;
  const body = { ...rest, metadata: { ...metadata, uid, annotations } };
  return changes.mergesLists ? { type: "merge", body, resourceVersion } : { type: "merge", body };
}

/** The hashes in the mark: of what was written, and of its fields. */
function markOf({ metadata: { annotations } }: AnyObject): readonly (string | undefined)[] {
  return annotations?.[APPLIED_ANNOTATION]?.split(".") ?? [];
}

/** Whether an earlier name of the controller owns fields of the child. */
function isHeldByFormer({ environment: { controller, managers } }: ObjectRunState, live: AnyObject): boolean {
  return managers.length > 1 && managers.some((manager) => manager !== controller && isMadeBy(live, [manager]));
}

function withoutMark(fields: FieldsV1): FieldsV1 {
  const metadata = fields["f:metadata"];
  const annotations = metadata?.["f:annotations"];
  if (annotations === undefined || !Object.hasOwn(annotations, MARK)) return fields;
  const { [MARK]: _, ...others } = annotations;
  return { ...fields, "f:metadata": { ...metadata, "f:annotations": others } };
}

/** Whether a write was refused because the object has another UID. */
function isOther(error: unknown): boolean {
  return isInvalid(error) && error.status.details?.causes?.some(({ field }) => field === "metadata.uid") === true;
}

/** Reads the child from the server. */
async function found(run: ObjectRunState, child: PlannedChild): Promise<Known> {
  return ours(run, child, await run.environment.core.reader.findLive(child.kind.resource, child.identity));
}

/** The object, if it is this owner's child. One that an earlier owner has left behind is remembered, and counts as absent. */
function ours(run: ObjectRunState, child: PlannedChild, object: Known): Known | Promise<Known> {
  child.earlier = undefined;
  if (object === undefined || ownerUid(object) === run.object.metadata.uid) return object;
  const { what, adopt } = child;
  const controller = controllerOf(object);
  if (controller !== undefined) {
    if (namesOwner(run, child, controller)) return earlier(run, child, object);
    throw new AlreadyOwned(`Cannot take over ${what}: it is controlled by ${controller.kind} ${controller.name}`);
  }
  const owner = labelledOwner(object);
  if (owner !== undefined && keyString(owner) !== keyString(run.object.metadata)) {
    throw new AlreadyOwned(
      `Cannot take over ${what}: by its label ${OWNER_UID_LABEL} it is a child of ${keyString(owner)}; delete it if that is gone`,
    );
  }
  if (adopt) return object;
  throw new NotOwned(
    `Cannot take over ${what}: it exists and is not a child of this object; delete or rename it, or pass \`{ adopt: true }\``,
  );
}

async function earlier(run: ObjectRunState, child: PlannedChild, object: AnyObject): Promise<undefined> {
  const { kind, metadata } = run.object;
  const refused = (owner: string) => new AlreadyOwned(`Cannot take over ${child.what}: it is controlled by ${owner}`);
  // A server that only checks would still find the name taken.
  if (run.dryRun === true || !isCollectable(run, object)) {
    throw refused(`an earlier ${kind} ${metadata.name}, and will be collected`);
  }
  if (!(await hasItsName(run))) throw refused(`another ${kind} ${metadata.name}: this one has been deleted`);
  child.earlier = object;
}

function differing({ desired, live, fields }: AppliedState): object {
  return { differs: fields === undefined ? ["everything"] : differences(desired, live, fields) };
}
