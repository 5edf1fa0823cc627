/** Deletes, keeps or releases the children that the set no longer names. */
import { childUpdates, isMadeBy } from "../client/child-entry.ts";
import type { JsonPatchOperation } from "../client/client.ts";
import { handOver } from "../client/handover.ts";
import { guardedPatch } from "../client/write-body.ts";
import { isConflict, isNotFound } from "../kube/errors/api-error.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { SyncOptions } from "./context.ts";
import { childId, type OwnedKind, OWNER_INDEX } from "./owned-kind.ts";
import {
  appliedAnnotation,
  CHILD_ANNOTATION,
  childName,
  controllerOf,
  isChildOf,
  OWNER_ANNOTATION,
  OWNER_UID_LABEL,
  proofOf,
} from "./owner.ts";
import type { ObjectRunState } from "./run.ts";

const ATTEMPTS = 5;

/** A child that is no longer desired, with its former name in the set. */
export interface Surplus {
  readonly kind: OwnedKind;
  readonly object: AnyObject;
  readonly name: string;
}

export interface Pruning {
  readonly prune: readonly Surplus[];
  readonly release: readonly Surplus[];
  readonly kept: number;
}

/** Returns the children of the object by their controller reference, and those whose reference somebody has removed. */
function keysOf(run: ObjectRunState, { informer: { store } }: OwnedKind): readonly string[] {
  const { uid } = run.object.metadata;
  return [...store.keysOf(OWNER_INDEX, uid), ...store.keysOf(OWNER_INDEX, proofOf(uid))];
}

/** Whether this controller made the child: it has our entries or our mark, or had them before somebody removed them. */
function isOwnChild({ environment }: ObjectRunState, { resource }: OwnedKind, object: AnyObject): boolean {
  const { controller, managers, memory } = environment;
  const { annotations } = object.metadata;
  if (isMadeBy(object, managers) || annotations?.[appliedAnnotation(controller)] !== undefined) return true;
  return memory.lostNames(childId(resource, keyString(object.metadata)), object) !== undefined;
}

/** Finds the children that this controller made and the set no longer names. */
export function surplusOf(run: ObjectRunState, desiredIds: ReadonlySet<string>, options: SyncOptions<string>): Pruning {
  const prune: Surplus[] = [];
  const release: Surplus[] = [];
  let kept = 0;
  for (const kind of run.environment.owned) {
    if (!kind.informer.hasSynced) throw notThere(kind);
    const { store } = kind.informer;
    for (const key of keysOf(run, kind)) {
      if (desiredIds.has(childId(kind.resource, key))) continue;
      const object = store.get(key)!;
      if (!isOwnChild(run, kind, object)) continue;
      const name = childName(object);
      if (options.keep?.includes(name)) kept++;
      else if (options.release?.includes(name)) release.push({ kind, object, name });
      else prune.push({ kind, object, name });
    }
  }
  return { prune, release, kept };
}

/**
 * Deletes and releases children. A child on which others depend by `after` is deleted once these are gone; their
 * deletion makes the object run again.
 *
 * @throws Error while an owned kind cannot be watched, because its cache may be outdated.
 */
export async function prune(
  run: ObjectRunState,
  { prune: surplus, release }: Pruning,
  after: { readonly [later: string]: readonly string[] | undefined } = {},
): Promise<void> {
  for (const kind of run.environment.owned) refuseUnseen(kind);
  for (const child of release) await releaseChild(run, child);
  let open = surplus;
  while (open.length > 0) {
    const names = new Set(open.map(({ name }) => name));
    const isAwaited = ({ name }: Surplus): boolean =>
      [...names].some((later) => later !== name && after[later]?.includes(name) === true);
    const ready = open.filter((child) => !isAwaited(child));
    for (const child of ready) {
      if (child.object.metadata.deletionTimestamp === undefined) await deleteChild(run, child);
    }
    const rest = open.filter(({ kind, object }) => isThere(kind, object));
    if (rest.length === open.length) return;
    open = rest;
  }
}

/**
 * Deletes the children that are tracked by a label, which no garbage collector finds.
 *
 * @throws Error while one of their kinds cannot be watched, because unseen children would stay forever.
 */
export async function removeTracked(run: ObjectRunState): Promise<void> {
  for (const kind of run.environment.owned) {
    if (kind.track !== "label") continue;
    refuseUnseen(kind);
    for (const key of keysOf(run, kind)) {
      const object = kind.informer.store.get(key)!;
      const isOurs = controllerOf(object) === undefined && isOwnChild(run, kind, object);
      if (!isOurs || object.metadata.deletionTimestamp !== undefined) continue;
      await deleteChild(run, { kind, object, name: childName(object) });
    }
  }
}

function isThere(kind: OwnedKind, { metadata }: AnyObject): boolean {
  return kind.informer.store.get(keyString(metadata))?.metadata.uid === metadata.uid;
}

/** Deletes exactly the object that was seen. If it was changed meanwhile, it is read again. */
async function deleteChild(run: ObjectRunState, child: Surplus): Promise<void> {
  const { kind, object: target } = child;
  const { core, memory } = run.environment;
  let object: AnyObject | undefined = target;
  for (let attempt = 1; object !== undefined; attempt++) {
    const { uid, resourceVersion } = object.metadata;
    try {
      const preconditions = { uid, resourceVersion };
      await core.writer.delete(kind.resource, object.metadata, run, { propagation: "Background", preconditions });
      break;
    } catch (error) {
      if (isNotFound(error)) break;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      object = await core.reader.findLive(kind.resource, target.metadata, { context: run });
      const isOurs = object !== undefined && isChildOf(object, run.object) && isOwnChild(run, kind, object);
      if (!isOurs || object!.metadata.deletionTimestamp !== undefined) return;
    }
  }
  record(run, child, "deleted");
  memory.forget(childId(kind.resource, keyString(target.metadata)));
}

function record(run: ObjectRunState, { name, kind, object }: Surplus, action: "deleted" | "released"): void {
  if (run.dryRun !== true) run.record?.child({ name, resource: kind.resource, target: object.metadata }, { action });
}

/** Releases a child: it loses its owner, and its content stays as it is. */
async function releaseChild(run: ObjectRunState, child: Surplus): Promise<void> {
  const { kind, object: target } = child;
  const { core, memory, controller, managers } = run.environment;
  let object: AnyObject | undefined = target;
  if (managers.some((manager) => childUpdates(target, manager) !== undefined)) {
    // A later owner applies, and could not remove fields that are owned by an update.
    const move = { from: managers, to: controller, asApplied: true };
    object = await handOver(core, run, { resource: kind.resource, object: target, move });
    if (object === undefined || object.metadata.uid !== target.metadata.uid) return;
  }
  const { metadata } = object;
  const operations: JsonPatchOperation[] = [];
  const owners = metadata.ownerReferences ?? [];
  const index = owners.findIndex(({ uid }) => uid === run.object.metadata.uid);
  if (index >= 0) {
    const path = `/metadata/ownerReferences/${index}`;
    operations.push({ op: "test", path: `${path}/uid`, value: run.object.metadata.uid }, { op: "remove", path });
  }
  const remove = (field: "labels" | "annotations", name: string): void => {
    if (metadata[field] === undefined || !Object.hasOwn(metadata[field], name)) return;
    operations.push({ op: "remove", path: `/metadata/${field}/${name.replaceAll("/", "~1")}` });
  };
  remove("annotations", CHILD_ANNOTATION);
  for (const name of managers) remove("annotations", appliedAnnotation(name));
  remove("annotations", OWNER_ANNOTATION);
  remove("labels", OWNER_UID_LABEL);
  await core.writer.patch(kind.resource, metadata, guardedPatch(object, operations), run);
  record(run, child, "released");
  memory.forget(childId(kind.resource, keyString(metadata)));
}

function refuseUnseen(kind: OwnedKind): void {
  const { state, hasSynced } = kind.informer;
  if (!hasSynced) throw notThere(kind);
  if (state.kind === "unavailable" || state.kind === "waiting") throw notThere(kind, state.message);
}

function notThere({ resource }: OwnedKind, why = "not synced"): Error {
  return new Error(`Cannot determine the children: the cache of ${resource.kind} is not current (${why})`);
}
