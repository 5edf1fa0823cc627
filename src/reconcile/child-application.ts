/**
 * Brings one child to its desired state, and never an object of another owner.
 *
 * A comparison of values decides whether a write is needed. The write is the cheapest one with the effect of a forced
 * apply, and the object in the server's response counts as the desired state.
 */
import { isStub } from "../cache/object-transformer.ts";
import type { AppliedState } from "../client/applied-memory.ts";
import { isMadeBy } from "../client/child-entry.ts";
import type { Patch } from "../client/client.ts";
import { Containment } from "../client/containment.ts";
import { changesOf, holdsMore, undesired } from "../client/field-changes.ts";
import { differences } from "../client/field-differences.ts";
import { namesMore } from "../client/field-names.ts";
import { isOpenName, removesTooMuch, withoutUnwanted } from "../client/field-removal.ts";
import { droppedOf, patchOf, refusedOf, replacement } from "../client/field-replacement.ts";
import { handOver } from "../client/handover.ts";
import { entryOf } from "../client/managed-fields.ts";
import { isNobodys, without } from "../client/manager-entries.ts";
import type { ChildDetails } from "../history/run-record.ts";
import {
  type ApiError,
  isAlreadyExists,
  isApiError,
  isConflict,
  isInvalid,
  isNotFound,
} from "../kube/errors/api-error.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString, type ManagedFieldsEntry } from "../resource/meta.ts";
import {
  CLAIM,
  deleteEarlier,
  hasItsName,
  isCollectable,
  isUnclaimed,
  namesOn,
  namesOwner,
  type Ownership,
  ownershipOf,
  takeOver,
} from "./child-ownership.ts";
import type { PlannedChild } from "./child-plan.ts";
import { AlreadyOwned, NotOwned } from "./errors.ts";
import { controllerOf, isChildOf, labelledOwner, OWNER_UID_LABEL } from "./owner.ts";
import type { ObjectRunState } from "./run.ts";

const ATTEMPTS = 5;

/**
 * Finds the object with the child's name, in the cache or, if the cache cannot know, on the server.
 *
 * @throws NotOwned, AlreadyOwned when the object is neither this owner's child nor may be adopted.
 */
export function knownChild(run: ObjectRunState, child: PlannedChild): Live | Promise<Live> {
  const { informer } = child.kind;
  const object = informer.store.get(child.key);
  // A selector hides objects of others, and a stub hides their owner.
  const hidden = object === undefined ? informer.labels !== undefined || informer.fields !== undefined : isStub(object);
  return hidden ? readChild(run, child) : checkedChild(run, child, object);
}

type Live = AnyObject | undefined;

/** Whether the child differs from its desired state. It sends no request. */
export function isDue(run: ObjectRunState, child: PlannedChild): boolean {
  const { log } = run.environment;
  const { live } = child;
  if (live === undefined) return true;
  if (live.metadata.deletionTimestamp !== undefined) return false; // its deletion is an event, after which it is created again
  if (isHeldByFormer(run, live)) return true;
  const ownership = ownershipOf(run, child, live);
  if (isThere(run, child, ownership)) return false;
  if (log.enabled("debug")) {
    run.log.debug("Applying a child that differs", { child: child.what, ...differing(ownership.state) });
  }
  return true;
}

/** Brings a child to its desired state. */
export async function applyChild(run: ObjectRunState, child: PlannedChild): Promise<void> {
  const { memory, clock } = run.environment;
  const before = child.live;
  let answer: AnyObject;
  // The cache may lag, so each write names the object that it expects, or that it expects none.
  for (let attempt = 1; ; attempt++) {
    try {
      answer = await write(run, child);
      break;
    } catch (error) {
      const isGone = child.live !== undefined && isNotFound(error);
      const isOvertaken = isGone || isConflict(error) || isAlreadyExists(error) || isOther(error);
      if (attempt === ATTEMPTS || (!isOvertaken && !isReplaceable(child, error))) throw child.refused?.error ?? error;
      if (!isOvertaken) continue;
      child.live = await readChild(run, child);
      if (child.live?.metadata.deletionTimestamp !== undefined) return;
      if (child.live !== undefined && isThere(run, child, ownershipOf(run, child, child.live))) {
        noteChild(run, child, { action: "unchanged" });
        return;
      }
    }
  }
  child.live = answer;
  noteWrite(run, child, before);
  if (before !== undefined && memory.isFight(child.id, child.content, clock.now())) {
    const about = { child: child.what, ...differing(ownershipOf(run, child, before).state) };
    run.log.warn("A child keeps changing back: somebody else writes fields that this controller sets", about);
  }
  if (answer.metadata.deletionTimestamp !== undefined) return;
  const ownership = ownershipOf(run, child, answer);
  memory.forgetAnswer(child.id);
  if (!isThere(run, child, ownership)) memory.remember(child.id, answer, ownership.state);
}

/** Notes what a write has made of the child. */
function noteWrite(run: ObjectRunState, child: PlannedChild, old: Live): void {
  if (run.record === undefined) return;
  const { informer } = child.kind;
  const now = informer.isReduced ? informer.store.get(child.key) : child.live;
  const action = old === undefined ? "created" : isChildOf(old, run.object) ? "changed" : "adopted";
  noteChild(run, child, { action, old, now });
}

/** Notes what the run has made of a child, unless it only asked what would become of it. */
export function noteChild(
  { record, dryRun }: ObjectRunState,
  { name, kind, live, identity }: PlannedChild,
  details: ChildDetails,
): void {
  if (dryRun === true) return;
  record?.child({ name, resource: kind.resource, target: live?.metadata ?? identity }, details);
}

/** Sends the cheapest write that still names its object. */
async function write(run: ObjectRunState, child: PlannedChild): Promise<AnyObject> {
  const { core, controller, managers } = run.environment;
  const { key, live, earlier, refused } = child;
  const { resource } = child.kind;
  if (earlier !== undefined) {
    await deleteEarlier(run, child, earlier);
    child.earlier = undefined;
  }
  if (live === undefined) return core.writer.create(resource, child.body(), run, { key, isStrict: true });
  if (isHeldByFormer(run, live)) {
    const move = { from: managers, to: controller, asApplied: false };
    child.live = await checkedChild(run, child, await handOver(core, run, { resource, object: live, move }));
    return write(run, child);
  }
  const ownership = ownershipOf(run, child, live);
  if (refused !== undefined) {
    const replaced = await replace(run, child, { live, ownership });
    const now = ownershipOf(run, child, replaced);
    if (isThere(run, child, now) && !isUnclaimed(run, child, now)) return replaced;
    // The other fields can be merged now; fields that still cannot be merged stay as they are.
    child.live = replaced;
    child.refused = undefined;
    return write(run, child).catch((error: unknown) => (isInvalid(error) ? replaced : Promise.reject(error)));
  }
  const patch = ownership.isUpdated ? updateOf(run, child, ownership) : undefined;
  if (patch !== undefined) return core.writer.patch(resource, child.identity, patch, run);
  const isClaimed = isUnclaimed(run, child, ownership);
  if (ownership.isUpdated || isClaimed) {
    // An apply removes fields that are no longer desired, but only among applied ones.
    child.live = await checkedChild(
      run,
      child,
      await takeOver(run, child, { object: live, asApplied: ownership.isUpdated }),
    );
    if (child.live === undefined) return write(run, child);
  }
  await removeSurplus(run, child, { live: child.live!, isClaimed });
  if (isClaimed) keepNames(run, child, child.live!);
  const answer = await apply(run, child);
  const dropped = droppedOf(child.content, answer);
  if (dropped !== undefined) return patchApplied(run, child, { live: answer, patch: dropped });
  if (!isNobodys(answer.metadata.managedFields)) return answer;
  child.live = (await takeOver(run, child, { object: answer, asApplied: false })) ?? answer;
  const { state } = ownershipOf(run, child, child.live);
  return state.fields !== undefined && holdsMore(state.desired, state.fields) ? apply(run, child) : child.live;
}

function apply(run: ObjectRunState, child: PlannedChild): Promise<AnyObject> {
  const { key, kind } = child;
  const body = child.body();
  return run.environment.core.writer.apply(kind.resource, body, run, { force: true, key, body: JSON.stringify(body) });
}

/**
 * Remembers the field names in the child's annotation, because the next write replaces them: if a further write must
 * follow, nothing else may show which fields to remove.
 */
function keepNames({ environment }: ObjectRunState, child: PlannedChild, live: AnyObject): void {
  const names = child.namesOn(live);
  if (names !== undefined) environment.memory.keepNames(child.id, { uid: live.metadata.uid, names });
}

/** Patches an applied child. An update then owns the patched fields; they become applied like the others. */
async function patchApplied(
  run: ObjectRunState,
  child: PlannedChild,
  { live, patch }: { readonly live: AnyObject; readonly patch: object },
): Promise<AnyObject> {
  const { core, controller } = run.environment;
  const { resource } = child.kind;
  const { uid, resourceVersion } = live.metadata;
  const body = { ...patch, metadata: { ...(patch as Patched).metadata, uid } };
  const answer = await core.writer.patch(resource, child.identity, { type: "merge", body, resourceVersion }, run);
  // Fields that the author's own updates own stay with them.
  if (entryOf(live, { manager: controller, operation: "Update" }) !== undefined) return answer;
  if (entryOf(answer, { manager: controller, operation: "Update" }) === undefined) return answer;
  return (await takeOver(run, child, { object: answer, asApplied: true })) ?? answer;
}

/** Removes fields that are no longer desired when an apply would remove too many. */
async function removeSurplus(
  run: ObjectRunState,
  child: PlannedChild,
  { live, isClaimed }: { readonly live: AnyObject; readonly isClaimed: boolean },
): Promise<void> {
  const { core, controller } = run.environment;
  const { resource } = child.kind;
  const { desired, fields } = ownershipOf(run, child, live).state;
  // In built-in kinds, the remainder of a map would often be defaults.
  const isOpen = isClaimed || !child.isBuiltIn ? () => child.refused === undefined : isOpenName;
  if (fields === undefined || !removesTooMuch({ desired, live, fields, isOpen })) return;
  const now = await core.reader.findLive(resource, child.identity, { context: run });
  if (now?.metadata.uid !== live.metadata.uid) return; // the apply is refused
  const entries = now.metadata.managedFields ?? [];
  const isOwn = (entry: ManagedFieldsEntry): boolean => entry.manager === controller && entry.operation === "Apply";
  const others = entries.flatMap((entry) => (isOwn(entry) || entry.fieldsV1 === undefined ? [] : [entry.fieldsV1]));
  const { metadata, ...rest } = patchOf(
    withoutUnwanted({ live: now, desired, fields, others, isOpen }),
    now,
  ) as Patched;
  // The fields that stay are given up, so that the apply does not remove them.
  const surplus = undesired(desired, fields) ?? {};
  const managedFields = entries.map((entry) =>
    isOwn(entry) ? { ...entry, fieldsV1: without(entry.fieldsV1 ?? {}, surplus) ?? CLAIM } : entry,
  );
  const patch = { ...rest, metadata: { ...metadata, managedFields } };
  child.live = await patchApplied(run, child, { live: now, patch });
}

interface Patched {
  readonly metadata?: object;
}

/**
 * Whether a write would change nothing: the values are set, and no field that we own is undesired.
 */
function isThere(run: ObjectRunState, child: PlannedChild, { state, isUpdated }: Ownership): boolean {
  const { desired, live, fields } = state;
  if (run.environment.memory.isAnswered(child.id, live as AnyObject, state)) return true;
  if (fields === undefined || !new Containment(child.isBuiltIn).has(desired, live, fields)) return false;
  // The creator of an object also owns its defaults; the names of the desired fields, which are compared too, show the
  // difference.
  return isUpdated || !holdsMore(desired, fields);
}

/**
 * The merge patch with the effect of an apply; `undefined` when something must be removed or only the server can merge.
 */
function updateOf(run: ObjectRunState, child: PlannedChild, { state, apiVersion }: Ownership): Patch | undefined {
  const live = state.live as AnyObject;
  const desired = child.content as unknown as Record<string, unknown>;
  const fields = state.fields!;
  if (apiVersion !== child.apiVersion) return undefined;
  const names = namesOn(run, child, live);
  if (names.length === 0 ? holdsMore(desired, fields) : names.some((one) => namesMore(one, desired))) return undefined;
  const from = live as unknown as Record<string, unknown>;
  const changes = changesOf({ desired, live: from, fields, mayAdd: child.mayAdd, isBuiltIn: child.isBuiltIn });
  if (changes?.patch === undefined) return undefined;
  const { metadata, ...rest } = changes.patch as { readonly metadata?: object };
  const { uid, resourceVersion } = live.metadata;
  const body = { ...rest, metadata: { ...metadata, uid } };
  return changes.mergesLists ? { type: "merge", body, resourceVersion } : { type: "merge", body };
}

/**
 * Whether another write may succeed where the server has refused one: first with only the refused fields, then with
 * whole lists that contain them.
 */
function isReplaceable(child: PlannedChild, error: unknown): boolean {
  if (child.live === undefined || !isApiError(error) || !(isInvalid(error) || isUnreadable(error))) return false;
  const places = (error.status.details?.causes ?? []).flatMap(({ field }) => (field?.includes(".") ? [field] : []));
  const refused = child.refused;
  const isNew = refused === undefined || places.some((place) => !refused.places.has(place));
  if ((places.length === 0 && isInvalid(error)) || (!isNew && refused.isWhole)) return false;
  child.refused = {
    error: refused?.error ?? error,
    places: new Set([...(refused?.places ?? []), ...places]),
    isWhole: !isNew,
  };
  return true;
}

/**
 * Whether others have left the object in a state that no apply can read, such as a list with an item without its key.
 */
function isUnreadable({ status }: ApiError): boolean {
  return status.code === 500 && /typed|associative list/.test(status.message ?? "");
}

/** Sets the refused fields to exactly their desired values. @throws the original refusal when that changes nothing. */
async function replace(
  run: ObjectRunState,
  child: PlannedChild,
  { live, ownership }: { readonly live: AnyObject; readonly ownership: Ownership },
): Promise<AnyObject> {
  const { places, isWhole, error } = child.refused!;
  const { desired, fields } = ownership.state;
  const surplus = child.givenUp === undefined && fields !== undefined ? undesired(desired, fields) : undefined;
  child.givenUp = surplus && refusedOf(surplus, places);
  if (child.givenUp !== undefined) {
    // A field that is no longer desired may be impossible to remove, such as an immutable default: it stays, without an
    // owner.
    child.live = (await takeOver(run, child, { object: live, asApplied: true })) ?? live;
    return apply(run, child);
  }
  const patch = replacement({ desired, live, fields, places, isWhole, isBuiltIn: child.isBuiltIn });
  if (patch === undefined) throw error;
  keepNames(run, child, live);
  return patchApplied(run, child, { live, patch });
}

/** Whether an earlier name of the controller owns fields of the child. */
function isHeldByFormer({ environment: { controller, managers } }: ObjectRunState, live: AnyObject): boolean {
  return managers.length > 1 && managers.some((manager) => manager !== controller && isMadeBy(live, [manager]));
}

/** Whether a write was refused because the object has another UID. */
function isOther(error: unknown): boolean {
  return isInvalid(error) && error.status.details?.causes?.some(({ field }) => field === "metadata.uid") === true;
}

/** Reads the child from the server. */
async function readChild(run: ObjectRunState, child: PlannedChild): Promise<Live> {
  const { reader } = run.environment.core;
  return checkedChild(run, child, await reader.findLive(child.kind.resource, child.identity, { context: run }));
}

/**
 * Returns the object if it is this owner's child. An object that an earlier owner has left behind is remembered, and
 * counts as absent.
 */
function checkedChild(run: ObjectRunState, child: PlannedChild, object: Live): Live | Promise<Live> {
  child.earlier = undefined;
  if (object === undefined || isChildOf(object, run.object)) return object;
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
  // A dry run does not delete it, so the name would still be taken.
  if (run.dryRun === true || !isCollectable(run, object)) {
    throw refused(`an earlier ${kind} ${metadata.name}, and will be collected`);
  }
  if (!(await hasItsName(run))) throw refused(`another ${kind} ${metadata.name}: this one has been deleted`);
  child.earlier = object;
}

function differing({ desired, live, fields }: AppliedState): object {
  return { differs: fields === undefined ? ["everything"] : differences(desired, live, fields) };
}
