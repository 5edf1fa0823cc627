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
 * The object of the child's name as the cache has it, when it is this owner's child or may be adopted.
 *
 * @throws NotOwned, AlreadyOwned when it is not.
 */
export async function knownChild(run: RunOfObject, child: PlannedChild): Promise<AnyObject | undefined> {
  const { informer } = child.kind;
  const object = informer.store.get(keyString(child.key));
  // A selector hides foreign objects of the name, and a stub their owner.
  const hidden = object === undefined && (informer.labels !== undefined || informer.fields !== undefined);
  if (hidden || (object !== undefined && isStub(object))) return found(run, child);
  return ours(run, child, object);
}

/** Makes the child what it should be; no request when it is that already. */
export async function applyChild(run: RunOfObject, child: PlannedChild): Promise<void> {
  const { memory, controller, managers, parts, log, clock } = run.environment;
  const { live, content, id } = child;
  if (live?.metadata.deletionTimestamp !== undefined) return; // its deletion is an event, and then it is made anew
  // The mark is compared by itself: another controller of the same object may have put its own there.
  child.mark(undefined);
  const state = { desired: content, live, fields: live && ownFields(live, controller) };
  if (live !== undefined) {
    if (memory.isApplied(id, live, state)) return;
    // What this process has never applied, one before it may have: the mark says so, and the fields that nobody has
    // changed it since, because a change takes the ownership.
    const mark = live.metadata.annotations?.[APPLIED_ANNOTATION];
    if (mark !== undefined && mark === child.digest() && state.fields && isOwned(content, state.fields)) {
      return memory.remember(id, live, state);
    }
    if (log.enabled("debug"))
      run.log.debug("Applying a child that differs", { child: child.what, ...differing(state) });
  }
  child.mark(child.digest());
  const answer = await send(run, child);
  child.mark(undefined);
  child.live = answer;
  if (live !== undefined && memory.isFight(id, content, clock.now())) {
    const about = { child: child.what, ...differing(state) };
    run.log.warn("A child keeps changing back: somebody else writes fields that this controller sets", about);
  }
  if (answer.metadata.deletionTimestamp !== undefined) return;
  memory.remember(id, answer, { desired: content, live: answer, fields: ownFields(answer, controller) });
  for (const former of managers) {
    if (former === controller || appliedFields(answer, former) === undefined) continue;
    // What an earlier name of this controller applied, and the new one does not want, goes with its last claim.
    const body = child.identity();
    child.live = await parts.writer.apply(child.kind.resource, body, run, { force: true, manager: former });
  }
}

/** The cache may lag: the body says which object is meant, or that there is none, and otherwise nothing is written. */
async function send(run: RunOfObject, child: PlannedChild): Promise<AnyObject> {
  const { writer } = run.environment.parts;
  for (let attempt = 1; ; attempt++) {
    try {
      return await writer.apply(child.kind.resource, child.body(), run, { force: true });
    } catch (error) {
      if (attempt === ATTEMPTS || !(isConflict(error) || isAlreadyExists(error) || isOther(error))) throw error;
      child.live = await found(run, child);
      if (child.live?.metadata.deletionTimestamp !== undefined) return child.live;
    }
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
async function found(run: RunOfObject, child: PlannedChild): Promise<AnyObject | undefined> {
  return ours(run, child, await run.environment.parts.reader.findLive(child.kind.resource, child.key));
}

function ours(run: RunOfObject, { what, adopt }: PlannedChild, object: AnyObject | undefined): AnyObject | undefined {
  if (object === undefined || ownerUid(object) === run.object.metadata.uid) return object;
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
