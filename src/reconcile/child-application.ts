/** Applies one child, when it differs, and never to an object that is not this owner's. */
import { isStub } from "../cache/projection.ts";
import type { AppliedState } from "../client/applied-memory.ts";
import { differences } from "../client/field-differences.ts";
import { appliedFields, isOwned } from "../client/managed-fields.ts";
import { isAlreadyExists, isConflict, isInvalid } from "../kube/api-error.ts";
import type { AnyObject } from "../resource/handle.ts";
import { type FieldsV1, keyString } from "../resource/meta.ts";
import type { PlannedChild } from "./child-plan.ts";
import { AlreadyOwned, NotOwned } from "./errors.ts";
import { APPLIED_ANNOTATION, controllerOf, labelledOwner, OWNER_UID_LABEL, ownerUid } from "./owner.ts";
import type { RunOfObject } from "./run.ts";

const ATTEMPTS = 5;
const MARK = `f:${APPLIED_ANNOTATION}`;

/**
 * The object of the child's name, when it is this owner's child or may be adopted: as the cache has it, and as the
 * server has it where the cache cannot tell.
 *
 * @throws NotOwned, AlreadyOwned when it is not.
 */
export function knownChild(run: RunOfObject, child: PlannedChild): Known | Promise<Known> {
  const { informer } = child.kind;
  const object = informer.store.get(child.key);
  // A selector hides foreign objects of the name, and a stub their owner.
  const hidden = object === undefined ? informer.labels !== undefined || informer.fields !== undefined : isStub(object);
  return hidden ? found(run, child) : ours(run, child, object);
}

type Known = AnyObject | undefined;

/** Whether the child is not what it should be; without a request. */
export function isDue(run: RunOfObject, child: PlannedChild): boolean {
  const { memory, controller, log } = run.environment;
  const { live, content, id } = child;
  if (live === undefined) return true;
  if (live.metadata.deletionTimestamp !== undefined) return false; // its deletion is an event, and then it is made anew
  const state = { desired: content, live, fields: ownFields(live, controller) };
  if (memory.isApplied(id, live, state)) return false;
  // What this process has never applied, one before it may have: the mark says so, and the fields that nobody has
  // changed it since, because a change takes the ownership.
  const mark = live.metadata.annotations?.[APPLIED_ANNOTATION];
  if (mark !== undefined && mark === child.digest && state.fields && isOwned(content, state.fields)) {
    memory.remember(id, live, state);
    return false;
  }
  if (log.enabled("debug")) run.log.debug("Applying a child that differs", { child: child.what, ...differing(state) });
  return true;
}

/** Makes a child that is due what it should be. */
export async function applyChild(run: RunOfObject, child: PlannedChild): Promise<void> {
  const { memory, controller, managers, parts, clock } = run.environment;
  const { content, id, key } = child;
  const { resource } = child.kind;
  const before = child.live;
  let body: string;
  let answer: AnyObject;
  // The cache may lag: the body says which object is meant, or that there is none, and otherwise nothing is written.
  for (let attempt = 1; ; attempt++) {
    try {
      const object = child.body();
      body = JSON.stringify(object);
      answer = await parts.writer.apply(resource, object, run, { force: true, key, body });
      break;
    } catch (error) {
      if (attempt === ATTEMPTS || !(isConflict(error) || isAlreadyExists(error) || isOther(error))) throw error;
      child.live = await found(run, child);
      if (child.live?.metadata.deletionTimestamp !== undefined) return;
    }
  }
  child.live = answer;
  if (before !== undefined && memory.isFight(id, body, clock.now())) {
    const state = { desired: content, live: before, fields: ownFields(before, controller) };
    const about = { child: child.what, ...differing(state) };
    run.log.warn("A child keeps changing back: somebody else writes fields that this controller sets", about);
  }
  if (answer.metadata.deletionTimestamp !== undefined) return;
  memory.remember(id, answer, { desired: content, live: answer, fields: ownFields(answer, controller) });
  if (managers.length > 1) await releaseFormer(run, child, answer);
}

/** What an earlier name of this controller applied, and the new one does not want, goes with its last claim. */
async function releaseFormer(run: RunOfObject, child: PlannedChild, answer: AnyObject): Promise<void> {
  const { controller, managers, parts } = run.environment;
  for (const manager of managers) {
    if (manager === controller || appliedFields(answer, manager) === undefined) continue;
    child.live = await parts.writer.apply(child.kind.resource, child.emptyBody(), run, { force: true, manager });
  }
}

/** What the manager applied, without the mark. */
function ownFields(object: AnyObject, manager: string): FieldsV1 | undefined {
  const fields = appliedFields(object, manager);
  const metadata = fields?.["f:metadata"];
  const annotations = metadata?.["f:annotations"];
  if (annotations === undefined || !Object.hasOwn(annotations, MARK)) return fields;
  const { [MARK]: _, ...others } = annotations;
  return { ...fields, "f:metadata": { ...metadata, "f:annotations": others } };
}

/** The object of the name has another UID. */
function isOther(error: unknown): boolean {
  return isInvalid(error) && error.status.details?.causes?.some(({ field }) => field === "metadata.uid") === true;
}

/** As the server has it. */
async function found(run: RunOfObject, child: PlannedChild): Promise<Known> {
  return ours(run, child, await run.environment.parts.reader.findLive(child.kind.resource, child.identity));
}

function ours(run: RunOfObject, child: PlannedChild, object: Known): Known {
  if (object === undefined || ownerUid(object) === run.object.metadata.uid) return object;
  const { what, adopt } = child;
  const controller = controllerOf(object);
  if (controller !== undefined) {
    const { kind, metadata } = run.object;
    const isEarlier = controller.kind === kind && controller.name === metadata.name;
    const owner = isEarlier
      ? `an earlier ${kind} ${metadata.name}, and will be collected`
      : `${controller.kind} ${controller.name}`;
    throw new AlreadyOwned(`Cannot take over ${what}: it is controlled by ${owner}`);
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

function differing({ desired, live, fields }: AppliedState): object {
  return { differs: fields === undefined ? ["everything"] : differences(desired, live, fields) };
}
