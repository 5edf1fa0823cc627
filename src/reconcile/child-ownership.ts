/** What a controller owns of its child, and what it claims where the entries do not tell. */
import type { AppliedState } from "../client/applied-memory.ts";
import { CHILD_ANNOTATION, updatesOf } from "../client/child-entry.ts";
import { holdsMore, undesired } from "../client/field-changes.ts";
import { fieldsNamed, namedFields, type Names, namesIn, namesMore, parseFieldNames } from "../client/field-names.ts";
import { handOver } from "../client/handover.ts";
import { appliedFields, unite } from "../client/managed-fields.ts";
import { type Claim, type Move, without } from "../client/manager-entries.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import type { PlannedChild } from "./child-plan.ts";
import type { ObjectRunState } from "./run.ts";

/** The fields of a child that a controller owns. */
export interface Held {
  readonly state: AppliedState;
  /** Whether some are owned by an update, as those of a created object are. */
  readonly isUpdated: boolean;
  /** The apiVersion of that update. */
  readonly apiVersion: string | undefined;
}

export function heldOf(run: ObjectRunState, child: PlannedChild, live: AnyObject): Held {
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

/** The names of what was desired, as the child says them, or said before somebody changed them. */
export function namesOn({ environment }: ObjectRunState, child: PlannedChild, live: AnyObject): readonly Names[] {
  const lost = environment.memory.lostNames(child.id, live);
  return [child.namesOn(live), lost].flatMap((names) => parseFieldNames(names ?? "") ?? []);
}

/**
 * Whether the entries do not tell all that was once desired: somebody has emptied them, or restored the object without
 * them.
 */
export function isUnclaimed(run: ObjectRunState, child: PlannedChild, { state: { live, fields } }: Held): boolean {
  if (fields === undefined) return true;
  return namesOn(run, child, live as AnyObject).some((names) => {
    const left = namesMore(names, child.content) ? without(namedFields(names, live), fields) : undefined;
    return left !== undefined && holdsMore(child.content, left);
  });
}

/** What is desired and what was, as far as the child says it. */
function claimOf(run: ObjectRunState, child: PlannedChild, live: AnyObject): Claim & Pick<Move, "moves"> {
  const { controller } = run.environment;
  const said = namesOn(run, child, live);
  const names = [...said, namesIn(child.content as unknown as FieldsV1)];
  const fields = united(names.map((one) => namedFields(one, live)));
  return {
    manager: controller,
    apiVersion: child.apiVersion,
    fields,
    claims: undesired(child.content, fields) ?? CLAIM,
    // The creator of an object also owns its defaults, and some of them cannot be given up.
    moves: (fields, isApplied) => {
      const kept = child.givenUp === undefined ? fields : (without(fields, child.givenUp) ?? {});
      return isApplied || said.length === 0 ? kept : united(names.map((one) => fieldsNamed(kept, one)));
    },
  };
}

/** The least that a manager owns: without any entry the server would give all fields to somebody else. */
export const CLAIM: FieldsV1 = { "f:metadata": { "f:annotations": { [`f:${CHILD_ANNOTATION}`]: {} } } };

function united(sets: readonly FieldsV1[]): FieldsV1 {
  return sets.reduce(unite);
}

/** Gives what is owned by nobody, and if so asked by updates, to the applies. */
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
