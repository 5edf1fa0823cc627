/** Writes the status of a run's object: merged over what this controller wrote before, once, and only when it differs. */
import { isApiError, isNotFound } from "../kube/api-error.ts";
import type { AnyObject, Shape } from "../resource/handle.ts";
import type { Condition, FieldsV1 } from "../resource/meta.ts";
import { appliedFields, extract } from "../client/managed-fields.ts";
import type { StatusWriter } from "./status.ts";
import type { RunOfObject } from "./run.ts";
import type { StatusShape } from "./status-shape.ts";

type Fields = Record<string, unknown>;

/** A condition as it was asked for; the rest follows from what is there. */
interface WantedCondition {
  readonly type: string;
  readonly status: boolean | "Unknown";
  readonly reason: string;
  readonly message?: string;
}

export class ObjectStatus implements StatusWriter<Shape> {
  readonly #run: RunOfObject;
  readonly #fields: Fields = {};
  /** By type. */
  #conditions: Map<string, WantedCondition> | undefined;
  #dirty = false;

  constructor(run: RunOfObject) {
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
    // "False" is what the API says, and as a truth value it would be the opposite.
    if (typeof condition.status !== "boolean" && condition.status !== "Unknown") {
      throw new TypeError(
        `Cannot set condition ${condition.type}: expected the status true, false or "Unknown", got ${JSON.stringify(condition.status)}`,
      );
    }
    (this.#conditions ??= new Map()).set(condition.type, condition);
    this.#dirty = true;
  }

  async flush(): Promise<void> {
    if (!this.#dirty) return;
    const run = this.#run;
    const { controller, resource, memory, managers, parts } = run.environment;
    if (resource.subresources !== undefined && !resource.subresources.includes("status")) {
      throw new TypeError(`Cannot write the status of ${resource.kind}: the kind has no status subresource`);
    }
    const { key } = run.cause;
    const known = run.environment.statusShape.get();
    const shape = known instanceof Promise ? await known : known;
    const object = run.environment.latest(key) ?? run.object;
    // What this run found is not true of a later object of the name, and the server compares no uid here.
    if (object.metadata.uid !== run.object.metadata.uid) return;
    const live = (object as { readonly status?: Fields }).status ?? {};
    const fields = appliedFields(object, controller, "status")?.["f:status"];
    const desired = this.#merged(live, { status: this.#ownedBefore(object, fields), shape });
    const id = `status:${key}`;
    this.#dirty = false;
    if (memory.isApplied(id, object, { desired, live, fields })) return;
    const { name, namespace } = object.metadata;
    const { apiVersion, kind } = resource;
    const body = { apiVersion, kind, metadata: { name, namespace }, status: desired };
    try {
      const answer = await parts.writer.apply(resource, body, run, { subresource: "status", force: true, key });
      const now = (answer as { readonly status?: Fields }).status ?? {};
      const written = appliedFields(answer, controller, "status")?.["f:status"];
      memory.remember(id, answer, { desired, live: now, fields: written });
      run.object = answer;
      if (managers.length > 1) await this.#releaseFormer(answer);
    } catch (error) {
      this.#dirty = true;
      if (isApiError(error) && error.message.includes("observedGeneration")) run.environment.statusShape.forget();
      if (!(await this.#isGone(error))) throw error; // gone in the meantime: nobody is left to tell
    }
  }

  /** Not found is the object, or the subresource of a kind that was found by discovery. */
  async #isGone(error: unknown): Promise<boolean> {
    if (!isNotFound(error)) return false;
    const { environment, object } = this.#run;
    const { resource, parts } = environment;
    const now = await parts.reader.findLive(resource, object.metadata);
    if (now === undefined || now.metadata.uid !== object.metadata.uid) return true;
    throw new TypeError(`Cannot write the status of ${resource.kind}: the kind has no status subresource`);
  }

  /** A copy of what this controller wrote, under its own name or an earlier one: an apply that leaves a field out removes it. */
  #ownedBefore(object: AnyObject, fields: FieldsV1 | undefined): Fields {
    const { status: live = {} } = object as { readonly status?: Fields };
    const { controller, managers } = this.#run.environment;
    const owned: Fields = {};
    for (const former of managers) {
      if (former === controller) continue;
      const earlier = appliedFields(object, former, "status")?.["f:status"];
      if (earlier !== undefined) Object.assign(owned, extract(live, earlier));
    }
    if (fields !== undefined) Object.assign(owned, extract(live, fields));
    return owned;
  }

  /** Changes `status` from what was written before to what is to be written. */
  #merged(live: Fields, { status, shape }: { readonly status: Fields; readonly shape: StatusShape }): Fields {
    const { generation } = this.#run.object.metadata;
    // What was written before is of an earlier generation.
    delete status["observedGeneration"];
    if (generation !== undefined && shape.generation) status["observedGeneration"] = generation;
    for (const field in this.#fields) {
      const value = this.#fields[field];
      if (value === undefined) delete status[field];
      else status[field] = value;
    }
    const conditions = this.#conditions;
    if (conditions !== undefined) {
      const kept = ((status["conditions"] ?? []) as Condition[]).filter(({ type }) => !conditions.has(type));
      const present = (live["conditions"] ?? []) as readonly Condition[];
      const wanted = [...conditions.values()].map((condition) => this.#condition(condition, { present, shape }));
      status["conditions"] = [...kept, ...wanted];
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

  async #releaseFormer(answer: AnyObject): Promise<void> {
    const { controller, managers } = this.#run.environment;
    for (const former of managers) {
      if (former !== controller && appliedFields(answer, former, "status") !== undefined) await this.#release(former);
    }
  }

  /** An empty apply gives up what the earlier name still holds; shared fields stay. */
  async #release(former: string): Promise<void> {
    const run = this.#run;
    const { resource, parts } = run.environment;
    const { name, namespace } = run.object.metadata;
    const body = { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { name, namespace } };
    run.object = await parts.writer.apply(resource, body, run, { subresource: "status", force: true, manager: former });
  }
}

/** RFC 3339 with seconds, as `metav1.Time`. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
