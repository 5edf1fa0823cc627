/**
 * Writes the status of a run's object: merged over what this controller wrote before, once, and only when it differs.
 */
import { isApiError, isNotFound } from "../kube/errors/api-error.ts";
import type { AnyObject, Shape } from "../resource/handle.ts";
import type { Condition, FieldsV1 } from "../resource/meta.ts";
import { extract } from "../client/managed-fields.ts";
import type { StatusWriter } from "./status.ts";
import type { ObjectRunState } from "./run.ts";
import { dryRunOf } from "./dry-run.ts";
import type { StatusShape } from "./status-shape.ts";
import { type Fields, writeStatus } from "./status-write.ts";

/** A condition as the author sets it; the other fields follow from the live condition. */
interface WantedCondition {
  readonly type: string;
  readonly status: boolean | "Unknown";
  readonly reason: string;
  readonly message?: string;
}

export class ObjectStatusWriter implements StatusWriter<Shape> {
  readonly #run: ObjectRunState;
  readonly #fields: Fields = {};
  /** By type. */
  #conditions: Map<string, WantedCondition> | undefined;
  #dirty = false;

  constructor(run: ObjectRunState) {
    this.#run = run;
  }

  set(fields: object): void {
    if (Object.hasOwn(fields, "conditions")) {
      throw new TypeError("Cannot set status.conditions: use status.condition({ type, status, reason }) for each");
    }
    Object.assign(this.#fields, fields);
    this.#dirty = true;
  }

  condition(condition: WantedCondition): void {
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
    this.#dirty = true;
  }

  async flush({ dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<void> {
    if (!this.#dirty) return;
    const run = this.#run;
    const { resource } = run.environment;
    if (resource.subresources !== undefined && !resource.subresources.includes("status")) {
      throw new TypeError(`Cannot write the status of ${resource.kind}: the kind has no status subresource`);
    }
    const known = run.environment.statusShape.get();
    const shape = known instanceof Promise ? await known : known;
    this.#dirty = dryRun;
    try {
      await writeStatus(dryRun ? dryRunOf(run) : run, (object, fields) => this.#desired(object, { fields, shape }));
    } catch (error) {
      this.#dirty = true;
      if (isApiError(error) && error.message.includes("observedGeneration")) run.environment.statusShape.forget();
      if (!(await this.#isGone(error))) throw error; // the object is gone, so there is no status to write
    }
  }

  /** A 404 means that the object is gone, or that a kind which was found by discovery has no status subresource. */
  async #isGone(error: unknown): Promise<boolean> {
    if (!isNotFound(error)) return false;
    const { environment, object } = this.#run;
    const { resource, core } = environment;
    const now = await core.reader.findLive(resource, object.metadata);
    if (now === undefined || now.metadata.uid !== object.metadata.uid) return true;
    throw new TypeError(`Cannot write the status of ${resource.kind}: the kind has no status subresource`);
  }

  /** Merges what was set over what this controller wrote before; a field that is `undefined` is removed. */
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
      const wanted = new Map<string, Condition>();
      for (const [type, condition] of conditions) wanted.set(type, this.#condition(condition, { present, shape }));
      // Conditions keep their places, because a list in another order would differ.
      const kept = before.map((condition) => wanted.get(condition.type) ?? condition);
      for (const { type } of before) wanted.delete(type);
      status["conditions"] = [...kept, ...wanted.values()];
    }
    return status;
  }

  #condition(
    wanted: WantedCondition,
    { present, shape }: { readonly present: readonly Condition[]; readonly shape: StatusShape },
  ): Condition {
    const { object, environment } = this.#run;
    const { generation } = object.metadata;
    const status = wanted.status === "Unknown" ? "Unknown" : wanted.status ? "True" : "False";
    const before = present.find(({ type }) => type === wanted.type);
    const unchanged = before?.status === status;
    return {
      type: wanted.type,
      status,
      reason: wanted.reason,
      message: wanted.message ?? "",
      lastTransitionTime: unchanged ? before.lastTransitionTime : timestamp(environment.clock.now()),
      ...(generation === undefined || !shape.conditionGeneration ? {} : { observedGeneration: generation }),
    };
  }
}

/** RFC 3339 with seconds, as `metav1.Time`. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
