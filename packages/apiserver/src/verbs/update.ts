/** PUT, and the steps that it shares with all other changes of an object. */
import { deepEquals } from "#platform/equality";
import { goQuoted } from "../field-error.ts";
import type { KubeObject, WriteContext } from "../hooks.ts";
import { settled } from "../numbers.ts";
import { updateManagedFields } from "../patch/update-managed-fields.ts";
import { storedForm } from "../schema/kube-object.ts";
import { validate } from "../schema/validate.ts";
import { guardRole, rbacGroup } from "../authorization/role-guard.ts";
import type { Schema } from "../schema/schema.ts";
import { keyOf, viewOf } from "../registry/resource.ts";
import { answerJson } from "../request/answer.ts";
import { decodeObject, readBody } from "../request/body.ts";
import { type WriteOptions, writeOptions } from "../request/query.ts";
import { badRequest, conflict, invalid, notFound, StatusError } from "../status.ts";
import { ordered, Stored } from "../storage/stored.ts";
import { createObject, ensureNamespace, invalidKind, optionsObject, roleWrite, writtenAnew } from "./create.ts";
import { withAccessErrors } from "./access-errors.ts";
import { type ApiCall, managerOf, writeContext } from "./api-call.ts";
import { formOf } from "./forms.ts";
import { nextGeneration } from "./generation.ts";
import { acrossVersions, hasForeignManagers, withoutManagers } from "./other-versions.ts";
import { checkOwners } from "./owners.ts";
import { resetChanged, resetFields } from "./reset.ts";
import { decodedAgain } from "./mutated.ts";

export async function update(call: ApiCall): Promise<Response> {
  const { resource, query, request, target, accept, warnings } = call;
  checkNamed(target);
  const form = formOf(call);
  const body = await readBody(request, resource.row);
  const options = writeOptions(query, "UpdateOptions");
  const object = decodeObject(body, {
    row: resource.row,
    schema: resource.schema,
    fieldValidation: options.fieldValidation,
    warn: (message) => void warnings.push(message),
    noteEmpty: () => void (call.hasEmpty = true),
    noteNumbers: () => void (call.hasFloats = true),
  });
  ensureNamespace(call, object);
  checkName(object, target.name);
  checkOwners(call, object);
  const change = { produce: () => structuredClone(object), options, optionsKind: "UpdateOptions" };
  const { stored, isNew } = await changeObject(call, change);
  return answerJson(request, form.one(stored), { status: isNew ? 201 : 200, warnings, media: accept.media });
}

/** Requires a name in the path. @throws StatusError 400 when the path names a collection */
export function checkNamed({ name }: { readonly name: string }): void {
  if (name === "") throw badRequest("name must be provided");
}

/** Requires the name of the path. @throws StatusError 400 when the object has none or another one. */
export function checkName({ metadata: { name } }: KubeObject, expected: string): void {
  if (!name)
    throw badRequest(`the name of the object (${expected} based on URL) was undeterminable: name must be provided`);
  if (name !== expected)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${expected})`);
}

export interface Change {
  /** Makes the new object from the present one; called again when that has changed meanwhile. */
  readonly produce: (live: KubeObject | undefined) => KubeObject | Promise<KubeObject>;
  readonly options: WriteOptions;
  readonly optionsKind: string;
  /** Whether a missing object is created. @default as the kind does */
  readonly createsAbsent?: boolean;
  /** Whether the result of `produce` has its managed fields. @default false */
  readonly isTracked?: boolean;
  /** Whether `produce` took the version from `live`, so that a concurrent change is no conflict. @default false */
  readonly isRepeatable?: boolean;
  /** The other kind as which the path shows the object, and which `produce` gets and returns. @default none */
  readonly lens?: Lens;
}

/** Shows an object as one of another kind, and converts it back. */
export interface Lens {
  /** The apiVersion of the other kind. */
  readonly apiVersion: string;
  readonly schema: Schema | undefined;
  /** Returns the object as responses show it. */
  readonly show: (object: KubeObject) => KubeObject;
  /** Returns the object before a change, with its managers. */
  readonly before: (live: KubeObject) => KubeObject;
  /** Converts the changed object back. @throws StatusError when that is impossible */
  readonly after: (shown: KubeObject, live: KubeObject) => KubeObject;
}

export interface Changed {
  readonly stored: Stored;
  readonly isNew: boolean;
}

/** How often a change is repeated because of concurrent ones. */
const mostTries = 5;

/** Changes an object, in the same steps for every verb. */
export async function changeObject(call: ApiCall, change: Change): Promise<Changed> {
  const { resource, target } = call;
  const { row, collection, traits } = resource;
  const key = keyOf(resource, target.namespace, target.name);
  for (let tries = 1; ; tries += 1) {
    const stored = collection.get(key);
    if (stored === undefined) {
      if (!(change.createsAbsent ?? traits.createOnUpdate) || target.subresource !== "") {
        // Such a kind's path of the status takes the object apart before it finds that there is none.
        if (traits.createOnUpdate && change.isTracked === true) await change.produce(undefined);
        throw notFound(row, target.name);
      }
      const object = await change.produce(undefined);
      if (object.metadata.uid)
        throw preconditionFailed(call, { given: object.metadata.uid, found: "", isDryRun: change.options.dryRun });
      checkVersionText(object);
      const made = await createObject(call, object, {
        options: change.options,
        isTracked: change.isTracked ?? false,
        isUpdate: true,
      });
      return { stored: made, isNew: true };
    }
    const changed = await attempt(call, change, stored);
    if (changed !== undefined) return { stored: changed, isNew: false };
    if (tries >= mostTries) throw conflict(row, target.name, { why: modified });
  }
}

const modified = "the object has been modified; please apply your changes to the latest version and try again";

/** Whether a custom object lost something that its path does not write. */
function isResetIn({ resource, target }: ApiCall, sent: KubeObject, next: KubeObject): boolean {
  if (!resource.row.custom || sent === next) return false;
  const part = target.subresource === "" ? "status" : "spec";
  return sent[part] !== next[part] && !deepEquals(sent[part] ?? null, next[part] ?? null);
}

/** Tries the change. @returns `undefined` when a concurrent change came first and this one must be repeated. */
async function attempt(call: ApiCall, change: Change, stored: Stored): Promise<Stored | undefined> {
  const { kernel, resource, target, request } = call;
  const { storage, admission } = kernel;
  const { behaviour, row, collection } = resource;
  const { options } = change;
  const views = resource.readsLess ? [stored] : resource.view([stored]);
  const live = ((views instanceof Promise ? await views : views)[0] ?? stored).object;
  const { lens } = change;
  const before = lens === undefined ? live : lens.before(live);
  const produced = change.produce(before);
  let next = produced instanceof Promise ? await produced : produced;
  // An update was looked through when it was read.
  if (change.optionsKind === "PatchOptions") checkOwners(call, next, " after mutating admission happens");
  const { uid } = next.metadata;
  // A patch was made from the present object, so another UID is an ordinary change, which is rejected as such.
  if (uid && uid !== live.metadata.uid && change.optionsKind === "UpdateOptions")
    throw preconditionFailed(call, { given: uid, found: live.metadata.uid ?? "", isDryRun: options.dryRun });
  const context = writeContext(call, "UPDATE", { name: target.name, dryRun: options.dryRun });
  const complete = (): void => {
    if (lens !== undefined) return;
    next = resetChanged({ resource, subresource: target.subresource }, next, live);
    behaviour.default?.(next, context);
  };
  // On these two paths, fields that are not written still get the sender as their owner.
  const sent = next;
  const isTrackedWhole = ["resize", "ephemeralcontainers"].includes(target.subresource);
  if (isTrackedWhole) behaviour.default?.(next, context);
  else complete();
  const schema = lens === undefined ? resource.schema : lens.schema;
  if (change.isTracked !== true && lens === undefined && hasForeignManagers(call, { next, live })) {
    next = withoutManagers(next);
  } else if (change.isTracked !== true && schema !== undefined) {
    const wanted = next;
    const tracked = acrossVersions(call, [before, wanted], (convert) =>
      updateManagedFields({
        schema,
        live: before,
        next: wanted,
        manager: managerOf(options.fieldManager, request),
        subresource: target.subresource,
        apiVersion: lens?.apiVersion ?? resource.apiVersion,
        now: context.now,
        resetFields: resetFields(call),
        hasEmpty: call.hasEmpty === true,
        convert: lens === undefined ? convert : undefined,
        isOlder: resource.row.custom && live !== stored.object,
        sent: isResetIn(call, sent, wanted) ? sent : undefined,
      }),
    );
    next = tracked instanceof Promise ? await tracked : tracked;
  }
  if (isTrackedWhole) complete();
  const attributes = {
    context,
    object: next as KubeObject | undefined,
    oldObject: before,
    options: optionsObject(change.optionsKind, options),
    ...(call.hasEmpty === true &&
      schema !== undefined &&
      lens === undefined &&
      !row.custom && { encoded: (one: KubeObject) => storedForm(schema, one) }),
  };
  const mutation = admission.mutate(attributes);
  if (mutation !== undefined) await mutation;
  next = attributes.object ?? next;
  if (mutation !== undefined) {
    if (schema !== undefined) next = decodedAgain(schema, next);
    complete();
  }
  if (lens !== undefined) {
    next = resetChanged({ resource, subresource: target.subresource }, lens.after(next, live), live);
    behaviour.default?.(next, context);
  }
  if (row.group === rbacGroup) guardRole(roleWrite(call, next, live));
  checkVersion(call, next, live);
  next = withSystemFields(next, live);
  const isAsked = resource.traits.generation === "asked";
  if (isAsked) setGeneration(call, next, live);
  behaviour.prepareForUpdate?.(next, live, context);
  const plain = call.hasEmpty === true && resource.schema !== undefined ? storedForm(resource.schema, next) : next;
  // Some kinds distinguish empty from absent values.
  if (!isAsked) setGeneration(call, toldApart.has(live.kind) ? next : plain, live);
  const { generation } = toldApart.has(live.kind) ? next.metadata : plain.metadata;
  if (generation !== undefined) next.metadata.generation = plain.metadata.generation = generation;
  validateChanged(call, { next, live }, context);
  for (const warning of behaviour.warnings?.(next, live, target.subresource) ?? []) context.warn(warning);
  next = plain;
  const validated = lens === undefined ? next : lens.show(next);
  const validation = admission.validate({ ...attributes, object: validated, oldObject: lens?.show(live) ?? live });
  if (validation !== undefined) await validation;
  // A dry run shows this field, which is never stored.
  if (!options.dryRun) delete next.metadata["selfLink"];
  if (call.hasFloats === true) next = settled(next);
  const isSame = isSameBut(next, live) && !writtenAnew.has(stored);
  // An object that is stored in another version, or under an earlier definition, is stored again if that makes a
  // difference.
  const isStored = isSame && (live === stored.object || !row.custom);
  const inStorage = isStored ? stored.object : resource.toStorage(isSame ? live : next);
  const written = inStorage instanceof Promise ? await inStorage : inStorage;
  const isUnchanged = isSame && deepEquals(written, stored.object);
  if (collection.get(stored.key) !== stored) {
    if (change.isRepeatable === true || collection.get(stored.key) === undefined) return undefined;
    throw conflict(row, target.name, { why: modified });
  }
  const { subresource } = target;
  if (options.dryRun) {
    const made = new Stored(stored.key, stored.version, { object: ordered(isUnchanged ? live : next) });
    return resource.readsLess ? await viewOf(resource, made, subresource) : made;
  }
  if (isEmptied(next, live, resource.row.kind)) {
    storage.remove(collection, stored.key);
    await storage.committed();
    return new Stored(stored.key, stored.version, { object: ordered(next) });
  }
  const result = isUnchanged
    ? stored
    : storage.put(collection, stored.key, ordered({ ...written, metadata: { ...written.metadata } }));
  const commit = storage.committed();
  if (commit !== undefined) await commit;
  return await viewOf(resource, result, subresource);
}

function checkVersion({ resource, target }: ApiCall, next: KubeObject, live: KubeObject): void {
  const { row, traits } = resource;
  const given = next.metadata.resourceVersion ?? "";
  if (given === "" || given === "0") {
    if (traits.unconditionalUpdate) return;
    const field = "metadata.resourceVersion";
    const errors = [{ type: "Invalid" as const, field, badValue: 0, detail: "must be specified for an update" }];
    throw invalid({ group: row.group, kind: row.plural }, target.name, { errors });
  }
  checkVersionText(next);
  if (given !== live.metadata.resourceVersion) throw conflict(row, target.name, { why: modified });
}

/** Checks the version. @throws StatusError 500 */
function checkVersionText({ metadata: { resourceVersion = "" } }: KubeObject): void {
  if (/^[0-9]*$/.test(resourceVersion)) return;
  const message = `strconv.ParseUint: parsing ${goQuoted(resourceVersion)}: invalid syntax`;
  throw new StatusError(500, "", { message });
}

/** Restores the fields that nobody can change. */
function withSystemFields(next: KubeObject, live: KubeObject): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = live.metadata;
  const metadata = { ...next.metadata, resourceVersion: live.metadata.resourceVersion ?? "" };
  if (!metadata.uid && uid !== undefined) metadata.uid = uid;
  if (creationTimestamp) metadata.creationTimestamp = creationTimestamp;
  if (generation === undefined) delete metadata.generation;
  else metadata.generation = generation;
  if (deletionTimestamp !== undefined) metadata.deletionTimestamp = deletionTimestamp;
  if (deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= deletionGracePeriodSeconds;
  return { ...next, metadata };
}

const toldApart = new Set(["NetworkPolicy", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]);

function setGeneration({ resource, target }: ApiCall, next: KubeObject, live: KubeObject): void {
  if (target.subresource === "status") return;
  const generation = nextGeneration(resource, next, live);
  if (generation !== undefined) next.metadata.generation = generation;
}

function validateChanged(
  call: ApiCall,
  { next, live }: { readonly next: KubeObject; readonly live: KubeObject },
  context: WriteContext,
): void {
  const { resource } = call;
  const { behaviour, schema, row } = resource;
  const found = [
    ...(behaviour.validateUpdate?.(next, live, context) ?? []),
    ...(schema === undefined
      ? []
      : validate(schema, next, {
          old: live,
          only: context.subresource === "status" ? "status" : undefined,
          scale: resource.scale,
          warn: (problem) => context.warn(problem),
        })),
  ];
  const errors = withAccessErrors(call, found, { next, old: live, context });
  if (errors.length > 0) throw invalid(invalidKind(row, next.kind), next.metadata.name ?? "", { errors });
}

/** Whether the objects are equal except for the times of managers that changed nothing. */
function isSameBut(next: KubeObject, live: KubeObject): boolean {
  const { managedFields: mine = [], ...metadata } = next.metadata;
  const { managedFields: theirs = [], ...liveMetadata } = live.metadata;
  if (!deepEquals({ ...next, metadata }, { ...live, metadata: liveMetadata })) return false;
  if (mine.length !== theirs.length) return false;
  const timeless = (entries: readonly Record<string, unknown>[]): unknown =>
    entries.map((entry) => ({ ...entry, time: undefined }));
  return deepEquals(timeless(mine), timeless(theirs));
}

/** Whether the last finalizer of an object that is being deleted is gone. */
function isEmptied(next: KubeObject, live: KubeObject, kind: string): boolean {
  if ((next.metadata.finalizers ?? []).length > 0 || live.metadata.deletionTimestamp === undefined) return false;
  if ((live.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  if (kind !== "Namespace") return true;
  const { finalizers = [] } = (next["spec"] ?? {}) as { finalizers?: string[] };
  return finalizers.length === 0;
}

function preconditionFailed(
  { resource, target }: ApiCall,
  { given, found, isDryRun }: { readonly given: string; readonly found: string; readonly isDryRun: boolean },
): Error {
  const { row } = resource;
  // A dry run reads through another layer of the storage, which does not know the prefix of all keys.
  const path = `${isDryRun ? "" : "/registry"}/${storagePrefix(row)}/${keyOf(resource, target.namespace, target.name)}`;
  const detail = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${found}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
  return conflict(row, target.name, { why });
}

const prefixes: Readonly<Record<string, string>> = {
  replicationcontrollers: "controllers",
  endpoints: "services/endpoints",
  nodes: "minions",
  services: "services/specs",
  ingresses: "ingress",
};

/** Returns the real server's storage prefix of a kind, which its errors contain. */
function storagePrefix({ custom, group, plural }: ApiCall["resource"]["row"]): string {
  if (custom || group === "apiextensions.k8s.io" || group === "apiregistration.k8s.io") return `${group}/${plural}`;
  return (Object.hasOwn(prefixes, plural) ? prefixes[plural] : undefined) ?? plural;
}
