/** Writes objects: create, update, patch, apply and writes through subresources take the same steps, in one order. */
import { randomUUID } from "node:crypto";
import { deepEquals } from "#platform/equality";
import { accessForbidden } from "../authorization/forbidden.ts";
import { guardRole, rbacGroup } from "../authorization/role-guard.ts";
import type { AdmissionAttributes, KubeObject } from "../hooks.ts";
import { updateManagedFields } from "../patch/update-managed-fields.ts";
import { keyOf } from "../registry/resource.ts";
import type { WriteOptions } from "../request/query.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { decodeKubeObject, storedForm } from "../schema/kube-object.ts";
import { validate } from "../schema/validate.ts";
import { conflict, internalError, invalid, notFound } from "../status.ts";
import type { Stored } from "../storage/stored.ts";
import { withAccessErrors } from "./access-errors.ts";
import { type ApiCall, managerOf, writeContext } from "./api-call.ts";
import { firstGeneration, nextGeneration } from "./generation.ts";
import { acrossVersions, hasForeignManagers, withoutManagers } from "./other-versions.ts";
import { isTrackedWhole, resetChanged, resetFields, resetNew } from "./reset.ts";
import { store } from "./store.ts";
import {
  checkNamespaceOpen,
  checkOwners,
  checkVersionText,
  ensureNamespace,
  generatedName,
  invalidKind,
  modified,
  preconditionFailed,
} from "./write-checks.ts";
import type { Write, WriteRequest } from "./write-state.ts";

interface Step {
  readonly what: string;
  /** Why the step comes at this point. */
  readonly why: string;
  /** Changes the write. @throws StatusError to reject it */
  readonly run: (write: Write) => Promise<void> | undefined | void;
}

/** The steps in their order, which decides which of several mistakes is reported. */
const steps: readonly Step[] = [
  { what: "fields of the path", why: "all that follows sees the whole object with its defaults", run: keepRest },
  { what: "managed fields", why: "the client owns what it sent, not what is added below", run: track },
  { what: "namespace and first status", why: "admission reads both", run: completeNew },
  { what: "mutating admission", why: "what is checked below is final", run: mutate },
  { what: "object of a scale", why: "admission saw the scale, the rest is about what is stored", run: throughLens },
  { what: "rights that a role gives", why: "no webhook may give what the client has not", run: checkRights },
  { what: "resource version", why: "a change of an older state needs no validation", run: checkVersion },
  { what: "system fields", why: "neither clients nor admission can set them", run: setSystemFields },
  { what: "preparation and generation", why: "disabled fields are neither changes nor mistakes", run: prepare },
  { what: "validation", why: "it sees the object as it will be stored", run: validateObject },
  { what: "warnings", why: "a rejected object needs none", run: warn },
  {
    what: "permission to create by an update",
    why: "kube-apiserver reports mistakes in the object before it",
    run: mayCreate,
  },
  { what: "validating admission", why: "policies, webhooks and quotas rely on a valid object", run: admit },
  { what: "storage", why: "no other write comes between its last check and the store", run: store },
];

async function run(write: Write): Promise<Stored | undefined> {
  for (const step of steps) {
    const pending = step.run(write);
    if (pending !== undefined) await pending;
  }
  return write.result;
}

export interface Change extends WriteRequest {
  /** Makes the new object from the present one; called again when the present one has changed meanwhile. */
  readonly produce: (live: KubeObject | undefined) => KubeObject | Promise<KubeObject>;
  /** Whether a missing object is created. @default depends on the kind */
  readonly createsAbsent?: boolean;
}

/** The fields of metadata that a new object cannot set. */
const wiped = ["uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"];

export function wipeSystemFields({ metadata }: KubeObject): void {
  for (const field of wiped) delete metadata[field];
}

/** Creates a decoded object. @returns the object as the resource shows it; a dry run stores nothing */
export async function createObject(call: ApiCall, decoded: KubeObject, request: WriteRequest): Promise<Stored> {
  const object: KubeObject = { ...decoded, metadata: { ...decoded.metadata, creationTimestamp: null } };
  if (request.isUpdate !== true) wipeSystemFields(object);
  ensureNamespace(call, object);
  checkOwners(call, object);
  const { name = "" } = object.metadata;
  const context = writeContext(call, "CREATE", { name, dryRun: request.options.dryRun });
  const write = newWrite(call, request, { context, object, stored: undefined, live: undefined });
  return (await run(write))!;
}

export interface Changed {
  readonly stored: Stored;
  readonly isNew: boolean;
}

/** The number of times that a change is tried when concurrent changes come first. */
const mostTries = 5;

/** Changes the object of the path. A missing object is created if the verb or the kind allows that. */
export async function changeObject(call: ApiCall, change: Change): Promise<Changed> {
  const { resource, target } = call;
  const { row, collection, traits } = resource;
  const key = keyOf(resource, target.namespace, target.name);
  for (let tries = 1; ; tries += 1) {
    const stored = collection.get(key);
    if (stored === undefined) {
      if (!(change.createsAbsent ?? traits.createOnUpdate) || target.subresource !== "") {
        // An apply to the status of such a kind reports mistakes in the body before it reports that the object is missing.
        if (traits.createOnUpdate && change.isTracked === true) await change.produce(undefined);
        throw notFound(row, target.name);
      }
      const object = await change.produce(undefined);
      const { uid } = object.metadata;
      if (uid) throw preconditionFailed(call, { uid, live: "", isDryRun: change.options.dryRun });
      checkVersionText(object);
      const created = await createObject(call, object, { ...change, optionsKind: "CreateOptions", isUpdate: true });
      return { stored: created, isNew: true };
    }
    const changed = await attempt(call, change, stored);
    if (changed !== undefined) return { stored: changed, isNew: false };
    if (tries >= mostTries) throw conflict(row, target.name, { why: modified });
  }
}

/** Tries a change. @returns `undefined` when a concurrent change came first and this one must be repeated */
async function attempt(call: ApiCall, change: Change, stored: Stored): Promise<Stored | undefined> {
  const { resource, target } = call;
  const { lens, options, optionsKind } = change;
  const views = resource.readsLess ? [stored] : resource.view([stored]);
  const live = ((views instanceof Promise ? await views : views)[0] ?? stored).object;
  const before = lens === undefined ? live : lens.before(live);
  const produced = change.produce(before);
  const object = produced instanceof Promise ? await produced : produced;
  // The owners of an update were checked when its body was read.
  if (optionsKind === "PatchOptions") checkOwners(call, object, " after mutating admission happens");
  const { uid } = object.metadata;
  // A patch that changes the UID is left to validation, which rejects it as an ordinary change.
  if (uid && uid !== live.metadata.uid && optionsKind === "UpdateOptions")
    throw preconditionFailed(call, { uid, live: live.metadata.uid ?? "", isDryRun: options.dryRun });
  const context = writeContext(call, "UPDATE", { name: target.name, dryRun: options.dryRun });
  return run(newWrite(call, change, { context, object, stored, live, before }));
}

function newWrite(
  call: ApiCall,
  request: WriteRequest,
  {
    context,
    object,
    stored,
    live,
    before = live,
  }: Pick<Write, "context" | "object" | "stored" | "live"> & Partial<Pick<Write, "before">>,
): Write {
  const { lens, optionsKind, options } = request;
  const schema = lens === undefined ? call.resource.schema : lens.schema;
  const mayBeEmpty = call.hasEmpty === true && lens === undefined && !call.resource.row.custom;
  const attributes: AdmissionAttributes = {
    context,
    object,
    oldObject: before,
    options: optionsObject(optionsKind, options),
    schemaOfEmpty: mayBeEmpty ? schema : undefined,
  };
  return {
    call,
    request,
    context,
    stored,
    live,
    before,
    schema,
    sent: object,
    attributes,
    object,
    isNameGenerated: false,
    encoded: object,
    result: undefined,
  };
}

/** Makes the options of a write as admission sees them. */
export function optionsObject(kind: WriteRequest["optionsKind"], options: WriteOptions): Record<string, unknown> {
  return {
    // A patch counts as an update by the time of admission.
    kind: kind === "PatchOptions" ? "UpdateOptions" : kind,
    apiVersion: "meta.k8s.io/v1",
    ...(options.dryRun ? { dryRun: ["All"] } : {}),
    ...(options.fieldManager === "" ? {} : { fieldManager: options.fieldManager }),
    ...(kind === "PatchOptions" && options.force ? { force: true } : {}),
    ...(options.fieldValidation === "Warn" ? {} : { fieldValidation: options.fieldValidation }),
  };
}

/** Restores the fields that the path does not write, and adds the defaults of the kind. */
function keepRest(write: Write): void {
  if (!isTrackedWhole(write.call.target.subresource)) complete(write);
  else addDefaults(write);
}

function complete(write: Write): void {
  const { object, live, request } = write;
  const { resource, target } = write.call;
  if (request.lens !== undefined) return;
  write.object =
    live === undefined
      ? resetNew(resource, object)
      : resetChanged({ resource, subresource: target.subresource }, object, live);
  addDefaults(write);
}

function addDefaults({ call, object, context }: Write): void {
  call.resource.behaviour.default?.(object, context);
}

/** Records who owns the fields of the object, unless server-side apply has done so. */
function track(write: Write): Promise<void> | undefined {
  if (write.request.isTracked === true) return undefined;
  const tracked = withOwners(write);
  if (tracked instanceof Promise) return tracked.then((object) => setTracked(write, object));
  setTracked(write, tracked);
  return undefined;
}

function setTracked(write: Write, object: KubeObject): void {
  write.object = object;
  if (isTrackedWhole(write.call.target.subresource)) complete(write);
}

function withOwners(write: Write): KubeObject | Promise<KubeObject> {
  const { call, request, context, stored, live, before, schema, object, sent } = write;
  const { resource, target } = call;
  const { lens, options } = request;
  if (lens === undefined && hasForeignManagers(call, { next: object, live })) return withoutManagers(object);
  if (schema === undefined) return object;
  return acrossVersions(call, live === undefined ? [] : [before, object], (convert) =>
    updateManagedFields({
      schema,
      live: before,
      next: object,
      manager: managerOf(options.fieldManager, call.request),
      subresource: target.subresource,
      apiVersion: lens?.apiVersion ?? resource.apiVersion,
      now: context.now,
      resetFields: resetFields(call),
      hasEmpty: call.hasEmpty === true,
      convert: lens === undefined ? convert : undefined,
      isOlder: resource.row.custom && live !== stored?.object,
      sent: lostFields(call, sent, object) ? sent : undefined,
    }),
  );
}

/** Whether a custom object lost a field that its path does not write. */
function lostFields({ resource, target }: ApiCall, sent: KubeObject, object: KubeObject): boolean {
  if (!resource.row.custom || sent === object) return false;
  const part = target.subresource === "" ? "status" : "spec";
  return sent[part] !== object[part] && !deepEquals(sent[part] ?? null, object[part] ?? null);
}

/** Gives a new object its initial status. @throws StatusError 403 or 404 when its namespace accepts no objects */
function completeNew({ call, live, object }: Write): void {
  if (live !== undefined) return;
  const { emptyStatus } = call.resource;
  if (emptyStatus !== undefined) object["status"] ??= structuredClone(emptyStatus);
  checkNamespaceOpen(call, object.metadata.name || (object.metadata.generateName ?? ""));
}

/** Runs mutating admission. A changed object is decoded and completed as if a client had sent it. */
function mutate(write: Write): Promise<void> | undefined {
  write.attributes.object = write.object;
  return write.call.kernel.admission.mutate(write.attributes)?.then(() => afterMutation(write));
}

function afterMutation(write: Write): void {
  const { attributes, schema } = write;
  write.object = attributes.object ?? write.object;
  if (schema !== undefined) {
    const { object, error } = decodeKubeObject(schema, write.object);
    if (error !== undefined) throw internalError(error);
    applyDefaults(schema, object);
    write.object = object;
  }
  if (write.live === undefined) addDefaults(write);
  else complete(write);
}

/** Converts the object of the path to the one that is stored. @throws StatusError when that is impossible */
function throughLens(write: Write): void {
  const { lens } = write.request;
  if (lens === undefined || write.live === undefined) return;
  const { resource, target } = write.call;
  const changed = lens.after(write.object, write.live);
  write.object = resetChanged({ resource, subresource: target.subresource }, changed, write.live);
  addDefaults(write);
}

/** Checks that the author of a role or a binding has the permissions that it grants. @throws StatusError 403 */
function checkRights({ call, object, live }: Write): void {
  const { kernel, resource, target, user } = call;
  if (resource.row.group !== rbacGroup) return;
  const { namespace, name } = target;
  const { authorizer } = kernel;
  guardRole({ authorizer, user, plural: resource.row.plural, namespace, name, next: object, old: live });
}

/** Checks that the object was changed from the present version. @throws StatusError 409, 422 or 500 */
function checkVersion({ call, object, live }: Write): void {
  if (live === undefined) return;
  const { row, traits } = call.resource;
  const { name } = call.target;
  const { resourceVersion = "" } = object.metadata;
  if (resourceVersion === "" || resourceVersion === "0") {
    if (traits.unconditionalUpdate) return;
    const field = "metadata.resourceVersion";
    const errors = [{ type: "Invalid" as const, field, badValue: 0, detail: "must be specified for an update" }];
    throw invalid({ group: row.group, kind: row.plural }, name, { errors });
  }
  checkVersionText(object);
  if (resourceVersion !== live.metadata.resourceVersion) throw conflict(row, name, { why: modified });
}

/** Sets the fields that no client can set or change. */
function setSystemFields(write: Write): void {
  const { call, context, object, live } = write;
  if (live !== undefined) {
    write.object = withSystemFields(object, live);
    return;
  }
  const { metadata } = object;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = context.now;
  if (!metadata.name && metadata.generateName) {
    metadata.name = generatedName(metadata.generateName);
    write.isNameGenerated = true;
  }
  const generation = firstGeneration(call.resource);
  // Kinds without generations keep the generation that was sent.
  if (generation !== undefined) metadata.generation = generation;
}

function withSystemFields(object: KubeObject, live: KubeObject): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = live.metadata;
  const metadata = { ...object.metadata, resourceVersion: live.metadata.resourceVersion ?? "" };
  if (!metadata.uid && uid !== undefined) metadata.uid = uid;
  if (creationTimestamp) metadata.creationTimestamp = creationTimestamp;
  if (generation === undefined) delete metadata.generation;
  else metadata.generation = generation;
  if (deletionTimestamp !== undefined) metadata.deletionTimestamp = deletionTimestamp;
  if (deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= deletionGracePeriodSeconds;
  return { ...object, metadata };
}

/** Kinds for which an absent list or map differs from an empty one. */
const toldApart = new Set(["NetworkPolicy", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]);

/** Lets the kind drop disabled fields, and raises the generation when the object changed. */
function prepare(write: Write): void {
  const { call, context, object, live } = write;
  const { behaviour, schema, traits } = call.resource;
  // Such a kind compares the spec before its disabled fields are dropped.
  const early = live !== undefined && traits.generation === "asked" ? generationOf(call, object, live) : undefined;
  if (early !== undefined) object.metadata.generation = early;
  if (live === undefined) behaviour.prepareForCreate?.(object, context);
  else behaviour.prepareForUpdate?.(object, live, context);
  write.encoded = call.hasEmpty === true && schema !== undefined ? storedForm(schema, object) : object;
  if (live === undefined || traits.generation === "asked") return;
  const generation = generationOf(call, toldApart.has(live.kind) ? object : write.encoded, live);
  if (generation !== undefined) object.metadata.generation = write.encoded.metadata.generation = generation;
}

function generationOf({ resource, target }: ApiCall, object: KubeObject, live: KubeObject): number | undefined {
  return target.subresource === "status" ? undefined : nextGeneration(resource, object, live);
}

/**
 * Validates the object against its kind's rules, its schema and the permissions of the user. @throws StatusError 422
 */
function validateObject({ call, context, object, live }: Write): void {
  const { behaviour, schema, row, scale } = call.resource;
  const ofKind =
    live === undefined
      ? behaviour.validateCreate?.(object, context)
      : behaviour.validateUpdate?.(object, live, context);
  const only = live !== undefined && context.subresource === "status" ? "status" : undefined;
  const isOfSchema = schema !== undefined && (live !== undefined || object.kind === row.kind);
  const warnOf = live && ((problem: string): void => context.warn(problem));
  const ofSchema = isOfSchema ? validate(schema, object, { old: live, only, scale, warn: warnOf }) : [];
  const errors = withAccessErrors(call, [...(ofKind ?? []), ...ofSchema], { next: object, old: live, context });
  if (errors.length > 0) throw invalid(invalidKind(row, object.kind), object.metadata.name ?? "", { errors });
}

/** Adds warnings about valid but questionable fields. From here on the object is without its empty lists and maps. */
function warn(write: Write): void {
  const { call, context, object, live } = write;
  const { behaviour } = call.resource;
  for (const warning of behaviour.warnings?.(object, live, context.subresource) ?? []) context.warn(warning);
  write.object = write.encoded;
}

/** Checks that the user may create, where an update creates the object. @throws StatusError 403 */
function mayCreate({ call, request, live }: Write): void {
  if (live !== undefined || request.isUpdate !== true) return;
  const { kernel, target, user } = call;
  const { row } = call.resource;
  const { namespace, name, subresource } = target;
  const about = { group: row.group, resource: row.plural, subresource, namespace, name };
  const attributes = { user, verb: "create", isResource: true, path: "", ...about };
  const { allowed, reason } = kernel.authorizer.authorize(attributes);
  if (!allowed) throw accessForbidden(attributes, reason);
}

/** Calls validating admission, which sees the object as the path shows it. */
function admit({ call, request: { lens }, attributes, object, live }: Write): Promise<void> | undefined {
  const { admission } = call.kernel;
  if (lens !== undefined && live !== undefined)
    return admission.validate({ ...attributes, object: lens.show(object), oldObject: lens.show(live) });
  attributes.object = object;
  return admission.validate(attributes);
}
