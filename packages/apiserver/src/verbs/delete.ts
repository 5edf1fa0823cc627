/** DELETE of one object and of collections. */
import { deepEquals } from "#platform/equality";
import type { KubeObject, ObjectMetadata } from "../hooks.ts";
import { cleanup } from "../registry/definitions.ts";
import { keyOf, type Resource, viewOf } from "../registry/resource.ts";
import { answerJson, answerObject } from "../request/answer.ts";
import { listOptions } from "../request/query.ts";
import { selection } from "../request/selectors.ts";
import { conflict, forbidden, notFound } from "../status.ts";
import { ordered, Stored } from "../storage/stored.ts";
import { type DeleteOptions, deleteOptions } from "./delete-options.ts";
import { timestamp } from "../timestamp.ts";
import { type ApiCall, writeContext } from "./api-call.ts";
import { invalidKind } from "./write-checks.ts";
import { formOf } from "./forms.ts";
import { pageOf } from "./list.ts";

export async function deleteOne(call: ApiCall): Promise<Response> {
  const { resource, target, request, warnings, accept } = call;
  const form = formOf(call);
  const options = await deleteOptions(call);
  const { stored, isDeleted } = await deleteObject(call, { name: target.name, options });
  const view = resource.readsLess && !isDeleted ? stored : await viewOf(resource, stored, "");
  if (isDeleted && !resource.traits.returnsDeleted) {
    const { row } = resource;
    const details = {
      name: target.name,
      ...(row.group === "" ? {} : { group: row.group }),
      kind: row.plural,
      uid: view.object.metadata.uid,
    };
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
    return answerObject(request, status, { warnings, media: accept.media });
  }
  const status = !isDeleted && options.orphanDependents === false ? 202 : 200;
  return answerJson(request, form.one(view), { status, warnings, media: accept.media });
}

export async function deleteMany(call: ApiCall): Promise<Response> {
  const { query, target, request, warnings, accept } = call;
  const form = formOf(call);
  const list = listOptions(query);
  selection(call.resource, list); // A selector that is refused comes before the options of the deletion.
  const options = await deleteOptions(call);
  const { objects, metadata } = await pageOf(call, { ...list, isPaged: list.limit === 0 });
  for (const { object } of objects) {
    const { name = "", namespace = "" } = object.metadata;
    const one = { ...call, target: { ...target, name, namespace } };
    await deleteObject(one, { name, options, isOneOfMany: true }).catch((error: unknown) => {
      // The object is gone already, as requested.
      if ((error as { status?: { code?: number } }).status?.code !== 404) throw error;
    });
  }
  const json = form.list(objects, metadata);
  return answerJson(request, json, { warnings, media: accept.media });
}

interface DeletionResult {
  readonly stored: Stored;
  /** Whether the object is deleted; otherwise it is only marked, until its finalizers or grace period end. */
  readonly isDeleted: boolean;
}

interface Deletion {
  readonly name: string;
  readonly options: DeleteOptions;
  /** Whether the whole collection is deleted, so that admission gets no name. @default false */
  readonly isOneOfMany?: boolean;
  /** Whether admission has happened already. @default false */
  readonly isAdmitted?: boolean;
}

const immortal: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

/** Priority classes that cannot be deleted by name; the deletion of the collection includes them. */
const systemClasses: ReadonlySet<string> = new Set(["system-node-critical", "system-cluster-critical"]);

/**
 * The time between the two writes that delete a pod at once, as etcd takes some. Operators look for pods that are being deleted, and
 * those that watch would else learn of both writes together, and never see such a pod.
 */
const SECOND_WRITE_MS = 3;

export async function deleteObject(
  call: ApiCall,
  { name, options, isOneOfMany = false, isAdmitted = false }: Deletion,
): Promise<DeletionResult> {
  const { kernel, resource, target } = call;
  const { storage, admission } = kernel;
  const { collection, row } = resource;
  const key = keyOf(resource, target.namespace, name);
  if (row.group === "scheduling.k8s.io" && systemClasses.has(name) && !isOneOfMany)
    throw forbidden(row, name, { why: "this is a system priority class and cannot be deleted" });
  const first = collection.get(key);
  if (first === undefined) throw notFound(row, name);
  checkPreconditions(resource, first.object, options);
  if (row.group === "" && row.plural === "namespaces" && immortal.has(name))
    throw forbidden(row, name, { why: "this namespace may not be deleted" });
  const dryRun = (options.dryRun ?? []).length > 0;
  const context = writeContext(call, "DELETE", { name: isOneOfMany ? "" : name, dryRun });
  const view = isAdmitted ? first : viewOf(resource, first, "going");
  const attributes = {
    context,
    object: undefined,
    oldObject: (view instanceof Promise ? await view : view).object,
    options: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", ...options },
  };
  const mutation = isAdmitted ? undefined : admission.mutate(attributes);
  if (mutation !== undefined) await mutation;
  const validation = isAdmitted ? undefined : admission.validate(attributes);
  if (validation !== undefined) await validation;

  const live = collection.get(key);
  if (live === undefined) throw notFound(row, name);
  if (live !== first) checkPreconditions(resource, live.object, options);
  const plan = planOf(resource, live.object, { options, now: kernel.now() });
  if (plan.kind === "pending") return { stored: live, isDeleted: false };
  let stored = live;
  if ("changed" in plan) {
    const object = ordered({ ...live.object, ...plan.changed });
    if (dryRun) return { stored: new Stored(key, live.version, { object }), isDeleted: plan.kind === "markThenRemove" };
    stored = storage.put(collection, key, object);
  }
  if (plan.kind === "mark") {
    await storage.committed();
    return { stored, isDeleted: false };
  }
  if (plan.kind === "markThenRemove" && !isOneOfMany && live.object.metadata.deletionTimestamp === undefined) {
    await storage.committed();
    await new Promise((resolve) => setTimeout(resolve, SECOND_WRITE_MS));
    const now = collection.get(key);
    if (now?.object.metadata.uid !== live.object.metadata.uid) return { stored, isDeleted: true };
    if ((now?.object.metadata.finalizers ?? []).length > 0) return { stored, isDeleted: false };
  }
  if (!dryRun) stored = storage.remove(collection, key) ?? stored;
  await storage.committed();
  return { stored, isDeleted: true };
}

function checkPreconditions({ row }: Resource, { metadata }: KubeObject, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions ?? {};
  if (row.plural === "namespaces" || row.plural === "customresourcedefinitions") {
    // Their registries check this themselves, with other messages.
    const failed = (what: string, expected: string, actual = ""): Error =>
      conflict(row, metadata.name ?? "", {
        why: `Precondition failed: ${what} in precondition: ${expected}, ${what} in object meta: ${actual}`,
      });
    if (uid !== undefined && uid !== metadata.uid) throw failed("UID", uid, metadata.uid);
    if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
      throw failed("ResourceVersion", resourceVersion, metadata.resourceVersion);
  }
  const subject = { group: invalidKind(row, row.kind).group, plural: row.kind };
  const name = metadata.name ?? "";
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ""}). The object might have been deleted and then recreated`;
    throw conflict(subject, name, { why });
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ""}). The object might have been modified`;
    throw conflict(subject, name, { why });
  }
}

type Plan =
  | { readonly kind: "now" | "pending" }
  | { readonly kind: "mark" | "markThenRemove"; readonly changed: Partial<KubeObject> };

interface PlanOptions {
  readonly options: DeleteOptions;
  readonly now: number;
}

function planOf(resource: Resource, object: KubeObject, around: PlanOptions): Plan {
  const { row } = resource;
  if (!row.custom && row.group === "" && row.kind === "Namespace") return namespacePlan(object, around);
  if (row.kind === "CustomResourceDefinition" && object.metadata.deletionTimestamp === undefined)
    return definitionPlan(object, around);
  const grace = row.group === "" && row.kind === "Pod" ? podGrace(object, around) : undefined;
  if (grace === "pending") return { kind: "pending" };
  const finalizers = collectorFinalizers(resource, object, around.options);
  const metadata: ObjectMetadata = { ...object.metadata };
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  if (grace !== undefined) {
    Object.assign(metadata, grace);
    if (object.metadata.deletionTimestamp === undefined) bump(metadata);
    const stays = finalizers.length > 0 || (grace.deletionGracePeriodSeconds ?? 0) > 0;
    return { kind: stays ? "mark" : "markThenRemove", changed: { metadata } };
  }
  if (finalizers.length === 0) return { kind: "now" };
  if (object.metadata.deletionTimestamp === undefined) {
    bump(metadata);
    metadata.deletionTimestamp = timestamp(around.now);
  }
  metadata.deletionGracePeriodSeconds = 0;
  // Nothing is written when the deletion has already begun and the finalizers are the same.
  if (deepEquals(metadata, object.metadata)) return { kind: "pending" };
  return { kind: "mark", changed: { metadata } };
}

function bump(metadata: ObjectMetadata): void {
  if ((metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1;
}

/** Sets or removes the two finalizers that instruct the garbage collector. */
function collectorFinalizers({ traits }: Resource, { metadata }: KubeObject, options: DeleteOptions): string[] {
  const all = metadata.finalizers ?? [];
  if (!traits.collectsGarbage) return all;
  const { orphanDependents, propagationPolicy } = options;
  let isForeground = all.includes("foregroundDeletion");
  let orphans = all.includes("orphan") || (traits.orphansByDefault && !isForeground);
  if (orphanDependents !== undefined) {
    orphans = orphanDependents;
    isForeground = false;
  } else if (propagationPolicy !== undefined) {
    orphans = propagationPolicy === "Orphan";
    isForeground = propagationPolicy === "Foreground";
  }
  const others = all.filter((name) => name !== "orphan" && name !== "foregroundDeletion");
  return [...others, ...(orphans ? ["orphan"] : []), ...(isForeground ? ["foregroundDeletion"] : [])];
}

type Grace = Pick<ObjectMetadata, "deletionTimestamp" | "deletionGracePeriodSeconds">;

/**
 * Returns the grace period of a pod; `undefined` when it is deleted at once, `"pending"` when its deletion has already
 * begun.
 */
function podGrace(pod: KubeObject, { options, now }: PlanOptions): Grace | "pending" | undefined {
  const { metadata } = pod;
  const request = options.gracePeriodSeconds === undefined ? undefined : atLeastNow(options.gracePeriodSeconds);
  const current = metadata.deletionGracePeriodSeconds;
  if (metadata.deletionTimestamp !== undefined) {
    if (!current) return undefined;
    if (request === undefined || request >= current) return "pending";
    const moved = Date.parse(metadata.deletionTimestamp) - current * 1000 + request * 1000;
    const seconds = moved < now && request !== 0 ? 1 : request;
    return { deletionTimestamp: timestamp(Math.max(moved, now)), deletionGracePeriodSeconds: seconds };
  }
  const { nodeName, terminationGracePeriodSeconds } = (pod["spec"] ?? {}) as Record<string, unknown>;
  const { phase } = (pod["status"] ?? {}) as { phase?: string };
  let seconds = request ?? Number(terminationGracePeriodSeconds ?? 0);
  // A pod that does not run needs no time to end.
  if (!nodeName || phase === "Failed" || phase === "Succeeded") seconds = 0;
  seconds = atLeastNow(seconds);
  return { deletionTimestamp: timestamp(now + seconds * 1000), deletionGracePeriodSeconds: seconds };
}

function atLeastNow(seconds: number): number {
  return seconds < 0 ? 1 : seconds;
}

/** Deletes a namespace in steps: the namespace controller deletes its content first. */
function namespacePlan(object: KubeObject, { options, now }: PlanOptions): Plan {
  const { finalizers = [] } = (object["spec"] ?? {}) as { finalizers?: string[] };
  if (object.metadata.deletionTimestamp !== undefined) {
    if (finalizers.length > 0) return { kind: "pending" };
    return (object.metadata.finalizers ?? []).length > 0 ? { kind: "pending" } : { kind: "now" };
  }
  const metadata: ObjectMetadata = { ...object.metadata, deletionTimestamp: timestamp(now) };
  const others = (metadata.finalizers ?? []).filter((name) => name !== "orphan" && name !== "foregroundDeletion");
  if (options.propagationPolicy === "Orphan") others.push("orphan");
  if (options.propagationPolicy === "Foreground") others.push("foregroundDeletion");
  if (others.length > 0) metadata.finalizers = others;
  else delete metadata.finalizers;
  const status = { ...(object["status"] as object | undefined), phase: "Terminating" };
  return { kind: "mark", changed: { metadata, status } };
}

/** A definition waits until the objects of its kind are deleted. */
function definitionPlan(object: KubeObject, { now }: PlanOptions): Plan {
  const finalizers = object.metadata.finalizers ?? [];
  const metadata: ObjectMetadata = {
    ...object.metadata,
    deletionTimestamp: timestamp(now),
    finalizers: finalizers.includes(cleanup) ? finalizers : [...finalizers, cleanup],
  };
  const status = (object["status"] ?? {}) as { conditions?: Record<string, unknown>[] | null };
  const others = (status.conditions ?? []).filter(({ type }) => type !== "Terminating");
  const terminating = {
    type: "Terminating",
    status: "True",
    lastTransitionTime: timestamp(now),
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  return { kind: "mark", changed: { metadata, status: { ...status, conditions: [...others, terminating] } } };
}
