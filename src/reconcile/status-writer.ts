/**
 * Writes the status of a run's object: merged over the fields that this controller wrote before, once, and only when it
 * differs.
 */
import { changesOf, type FieldChanges, holdsMore, mergedWith } from "../client/field-changes.ts";
import { withoutUnwanted } from "../client/field-removal.ts";
import { handOver } from "../client/handover.ts";
import { appliedFields, extract, heldFields } from "../client/managed-fields.ts";
import { guardedOperations, guardedPatch } from "../client/write-body.ts";
import { isApiError, isConflict, isNotFound, isTestFailed } from "../kube/errors/api-error.ts";
import type { AnyObject, Shape } from "../resource/handle.ts";
import type { Condition, FieldsV1 } from "../resource/meta.ts";
import type { StatusWriter } from "./context.ts";
import { isCustomKind } from "./custom-kind.ts";
import { dryRunOf, type ObjectRunState } from "./run.ts";
import type { StatusShape } from "./status-shape.ts";

/** A condition as the author sets it; the other fields follow from the live condition. */
interface ConditionInput {
  readonly type: string;
  readonly status: boolean | "Unknown";
  readonly reason: string;
  readonly message?: string;
}

export class ObjectStatusWriter implements StatusWriter<Shape> {
  readonly #run: ObjectRunState;
  readonly #fields: Fields = {};
  /** The conditions by type. */
  #conditions: Map<string, ConditionInput> | undefined;
  #isDirty = false;

  constructor(run: ObjectRunState) {
    this.#run = run;
  }

  set(fields: object): void {
    if (Object.hasOwn(fields, "conditions")) {
      throw new TypeError("Cannot set status.conditions: use status.condition({ type, status, reason }) for each");
    }
    // It is written at the end of the run, and lines and Events of the run come before.
    this.#run.keep(this.#run.environment.resource, { status: fields });
    Object.assign(this.#fields, fields);
    this.#isDirty = true;
  }

  condition(condition: ConditionInput): void {
    if (!condition.type || !condition.reason) {
      throw new TypeError(`Cannot set a condition: type and reason are required, got ${JSON.stringify(condition)}`);
    }
    // The API's string "False" would be truthy.
    if (typeof condition.status !== "boolean" && condition.status !== "Unknown") {
      throw new TypeError(
        `Cannot set condition ${condition.type}: expected the status true, false or "Unknown", got ${JSON.stringify(condition.status)}`,
      );
    }
    (this.#conditions ??= new Map()).set(condition.type, condition);
    this.#isDirty = true;
  }

  async flush({ dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<void> {
    if (!this.#isDirty) return;
    const run = this.#run;
    const { resource } = run.environment;
    if (resource.subresources !== undefined && !resource.subresources.includes("status")) {
      throw new TypeError(`Cannot write the status of ${resource.kind}: the kind has no status subresource`);
    }
    const answer = run.environment.statusShape.get();
    const shape = answer instanceof Promise ? await answer : answer;
    this.#isDirty = dryRun;
    try {
      const before = run.latest();
      await writeStatus(dryRun ? dryRunOf(run) : run, (object, fields) => this.#desired(object, { fields, shape }));
      if (!dryRun) this.#record(before);
    } catch (error) {
      this.#isDirty = true;
      if (isApiError(error) && error.message.includes("observedGeneration")) run.environment.statusShape.forget();
      if (!(await this.#isGone(error))) throw error; // the object is gone, so there is no status to write
    }
  }

  /** Notes what has become of the status since `old`. */
  #record(old: AnyObject): void {
    const { record, environment } = this.#run;
    if (record === undefined) return;
    const before = conditionsOf(old);
    const conditions = conditionsOf(this.#run.object).flatMap(({ type, status, reason }) => {
      if (this.#conditions?.has(type) !== true) return [];
      const was = before.find((condition) => condition.type === type)?.status;
      return [{ type, status, reason, was }];
    });
    record.wroteStatus(environment.resource, { old, now: this.#run.latest() }, conditions);
  }

  /**
   * Whether a 404 means that the object is gone. It may also mean that a kind that was found by discovery has no status
   * subresource.
   */
  async #isGone(error: unknown): Promise<boolean> {
    if (!isNotFound(error)) return false;
    const { environment, object } = this.#run;
    const { resource, core } = environment;
    const now = await core.reader.findLive(resource, object.metadata, { context: this.#run });
    if (now === undefined || now.metadata.uid !== object.metadata.uid) return true;
    throw new TypeError(`Cannot write the status of ${resource.kind}: the kind has no status subresource`);
  }

  /** Merges the set fields over those that this controller wrote before; a field that is `undefined` is removed. */
  #desired(
    object: AnyObject,
    { fields, shape }: { readonly fields: FieldsV1 | undefined; readonly shape: StatusShape },
  ): Fields {
    const { generation } = this.#run.object.metadata;
    const { status: live = {} } = object as { readonly status?: Fields };
    const status: Fields = fields === undefined ? {} : { ...(extract(live, fields) as Fields | undefined) };
    // The previous value is of an earlier generation.
    delete status["observedGeneration"];
    if (generation !== undefined && shape.generation) status["observedGeneration"] = generation;
    for (const field in this.#fields) {
      const value = this.#fields[field];
      if (value === undefined) delete status[field];
      else status[field] = value;
    }
    const conditions = this.#conditions;
    if (conditions !== undefined) {
      const before = (status["conditions"] ?? []) as readonly Condition[];
      const present = (live["conditions"] ?? []) as readonly Condition[];
      const byType = new Map<string, Condition>();
      for (const [type, condition] of conditions) byType.set(type, this.#condition(condition, { present, shape }));
      // Conditions keep their places, because a list in another order would differ.
      const inPlace = before.map((condition) => byType.get(condition.type) ?? condition);
      for (const { type } of before) byType.delete(type);
      status["conditions"] = [...inPlace, ...byType.values()];
    }
    return status;
  }

  #condition(
    input: ConditionInput,
    { present, shape }: { readonly present: readonly Condition[]; readonly shape: StatusShape },
  ): Condition {
    const { object, environment } = this.#run;
    const { generation } = object.metadata;
    const status = input.status === "Unknown" ? "Unknown" : input.status ? "True" : "False";
    const before = present.find(({ type }) => type === input.type);
    const unchanged = before?.status === status;
    return {
      type: input.type,
      status,
      reason: input.reason,
      message: input.message ?? "",
      lastTransitionTime: unchanged ? before.lastTransitionTime : timestamp(environment.clock.now()),
      ...(generation === undefined || !shape.conditionGeneration ? {} : { observedGeneration: generation }),
    };
  }
}

/** RFC 3339 with seconds, as `metav1.Time`. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const ATTEMPTS = 5;
/** The number of the attempt from which on a write names only the UID, because others change the object too often. */
const CROWDED = 3;

export type Fields = Record<string, unknown>;

/** The live and the desired status of an object. */
interface StatusState {
  readonly desired: Fields;
  readonly live: Fields;
  /** The fields of the status that this controller owns. */
  readonly fields: FieldsV1 | undefined;
}

/**
 * Writes the desired status if it differs. After a conflict, which any change by others causes, the object is read and
 * the write starts over. An object of another UID is left alone.
 */
async function writeStatus(
  run: ObjectRunState,
  desiredOf: (object: AnyObject, fields: FieldsV1 | undefined) => Fields,
): Promise<void> {
  const { environment } = run;
  const { resource, core, contention } = environment;
  const { uid } = run.object.metadata;
  const read = (): Promise<AnyObject | undefined> =>
    core.reader.findLive(resource, run.object.metadata, { context: run });
  let object: AnyObject | undefined = environment.latest(run.item.key) ?? run.object;
  /** The object with the managed fields of all managers; cached objects have only our own. */
  let whole: AnyObject | undefined;
  let isPruned = false;
  for (let attempt = 1; ;) {
    if (object === undefined || object.metadata.uid !== uid) return;
    try {
      if (isHeldByFormer(run, object)) {
        object = await takeOver(run, object);
        continue;
      }
      const state = stateOf(run, object, desiredOf);
      const plan = planOf(run, object, state);
      if (plan === undefined) return;
      const { changes } = plan;
      const isLess = plan.isLess && !isPruned;
      // The caches may hold a status without some of its fields, and writing that status would delete them on the server.
      if ((isLess || core.reader.isReduced(resource)) && whole !== object) {
        object = whole = await read();
        continue;
      }
      const isFirst = state.fields === undefined;
      const isCrowded = attempt === 1 ? contention.isLikely(object, { isFirst }) : attempt >= CROWDED;
      const answer = await write(run, object, { ...state, changes, isLess, isCrowded });
      run.object = answer;
      if (changes !== undefined || !isLess) return remember(run, answer, state.desired);
      object = answer; // what is no longer desired has been removed; the rest needs an apply
      isPruned = true;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      contention.lost();
      if (attempt++ === ATTEMPTS) throw error;
      object = whole = await read();
    }
  }
}

/** Whether the object has changed since it was read. */
function isOvertaken(error: unknown): boolean {
  return isConflict(error) || isTestFailed(error);
}

/** Whether an earlier name of the controller owns fields of the status. */
function isHeldByFormer({ environment: { controller, managers } }: ObjectRunState, object: AnyObject): boolean {
  if (managers.length === 1) return false;
  return managers.some((manager) => manager !== controller && heldFields(object, manager, "status") !== undefined);
}

/** Moves the ownership to the controller's current name. */
function takeOver(run: ObjectRunState, object: AnyObject): Promise<AnyObject | undefined> {
  const { controller, managers, resource, core } = run.environment;
  const from = managers.filter((manager) => manager !== controller);
  const move = { from, to: controller, subresource: "status", asApplied: false };
  return handOver(core, run, { resource, object, move });
}

interface StatusPlan {
  /** The changes; `undefined` when only the server can merge the desired status. */
  readonly changes: FieldChanges | undefined;
  /** Whether a field that we own must be removed. */
  readonly isLess: boolean;
}

function stateOf(
  run: ObjectRunState,
  object: AnyObject,
  desiredOf: (object: AnyObject, fields: FieldsV1 | undefined) => Fields,
): StatusState {
  const { controller, resource } = run.environment;
  const fieldsOf = isCustomKind(resource) ? heldFields : appliedFields;
  const fields = fieldsOf(object, controller, "status")?.["f:status"];
  return { desired: desiredOf(object, fields), live: statusOf(object), fields };
}

/** @returns `undefined` when nothing is to be written. */
function planOf(run: ObjectRunState, object: AnyObject, state: StatusState): StatusPlan | undefined {
  const { memory, resource } = run.environment;
  if (memory.isApplied(idOf(run), object, state)) return undefined;
  if (!isCustomKind(resource)) return { changes: undefined, isLess: false };
  const changes = changesOf({ ...state, mayAdd: anywhere });
  const isLess = state.fields !== undefined && holdsMore(state.desired, state.fields);
  return changes !== undefined && changes.patch === undefined && !isLess ? undefined : { changes, isLess };
}

/** Fields may be added anywhere, because the server is asked to refuse fields that the schema does not have. */
function anywhere(): boolean {
  return true;
}

interface StatusChange extends StatusState, StatusPlan {
  readonly isCrowded: boolean;
}

function write(run: ObjectRunState, object: AnyObject, change: StatusChange): Promise<AnyObject> {
  const { resource, core, controller } = run.environment;
  const { desired, live, fields, changes, isLess, isCrowded } = change;
  const options = { subresource: "status", key: run.item.key };
  if (changes === undefined && !isLess) {
    const { apiVersion, kind } = resource;
    const { name, namespace, resourceVersion } = object.metadata;
    const body = { apiVersion, kind, metadata: { name, namespace, resourceVersion }, status: desired };
    return core.writer.apply(resource, body, run, { ...options, force: true });
  }
  if (isCrowded && changes !== undefined && !isLess) {
    const operations = guardedOperations("/status", (object as { readonly status?: Fields }).status, changes.patch);
    return core.writer.patch(resource, object.metadata, guardedPatch(object, operations), run, {
      ...options,
      isStrict: true,
    });
  }
  let status = changes === undefined ? live : mergedWith(live, changes.patch ?? {});
  if (isLess) {
    const others = othersOf(object, controller);
    status = withoutUnwanted({ live: status, desired, fields: fields!, others });
  }
  return core.writer.update(resource, { ...object, status } as AnyObject, run, { ...options, isStrict: true });
}

/** The fields of the status that other managers own. */
function othersOf(object: AnyObject, manager: string): readonly FieldsV1[] {
  const others: FieldsV1[] = [];
  for (const { manager: other, subresource = "", fieldsV1 } of object.metadata.managedFields ?? []) {
    const status = fieldsV1?.["f:status"];
    if (status !== undefined && (other !== manager || subresource !== "status")) others.push(status);
  }
  return others;
}

/** Remembers the response if the server has normalised values, which would otherwise look different forever. */
function remember(run: ObjectRunState, answer: AnyObject, desired: Fields): void {
  const { memory } = run.environment;
  const state = stateOf(run, answer, () => desired);
  memory.forgetAnswer(idOf(run));
  if (planOf(run, answer, state) !== undefined) memory.remember(idOf(run), answer, state);
}

function idOf(run: ObjectRunState): string {
  return `status:${run.item.key}`;
}

function conditionsOf(object: AnyObject): readonly Condition[] {
  return (statusOf(object)["conditions"] ?? []) as readonly Condition[];
}

function statusOf(object: AnyObject): Fields {
  return (object as { readonly status?: Fields }).status ?? {};
}
