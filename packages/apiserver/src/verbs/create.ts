/** POST, which creates an object. */
import { randomUUID } from "node:crypto";
import type { KubeObject, WriteContext } from "../hooks.ts";
import { settled } from "../numbers.ts";
import { updateManagedFields } from "../patch/update-managed-fields.ts";
import { storedForm } from "../schema/kube-object.ts";
import { validate } from "../schema/validate.ts";
import { accessForbidden } from "../authorization/forbidden.ts";
import { guardRole, rbacGroup, type RoleWrite } from "../authorization/role-guard.ts";
import { keyOf, type Resource, viewOf } from "../registry/resource.ts";
import { answerJson } from "../request/answer.ts";
import { decodeObject, readBody } from "../request/body.ts";
import { type WriteOptions, writeOptions } from "../request/query.ts";
import { alreadyExists, badRequest, invalid, notFound, noUniqueName, StatusError } from "../status.ts";
import { ordered, Stored } from "../storage/stored.ts";
import { withAccessErrors } from "./access-errors.ts";
import { type ApiCall, managerOf, writeContext } from "./api-call.ts";
import { hasForeignManagers, withoutManagers } from "./other-versions.ts";
import { formOf } from "./forms.ts";
import { firstGeneration } from "./generation.ts";
import { checkOwners } from "./owners.ts";
import { resetFields, resetNew } from "./reset.ts";
import { decodedAgain } from "./mutated.ts";

export async function create(call: ApiCall): Promise<Response> {
  const { resource, query, request, accept, warnings } = call;
  const form = formOf(call);
  const body = await readBody(request, resource.row);
  const options = writeOptions(query, "CreateOptions");
  const object = decodeObject(body, {
    row: resource.row,
    schema: resource.schema,
    fieldValidation: options.fieldValidation,
    warn: (message) => void warnings.push(message),
    noteEmpty: () => void (call.hasEmpty = true),
    noteNumbers: () => void (call.hasFloats = true),
  });
  const stored = await createObject(call, object, { options, isTracked: false });
  return answerJson(request, form.one(stored), { status: 201, warnings, media: accept.media });
}

/** A new claim is stored before its phase gets its default, so the first update writes it again in any case. */
export const writtenAnew: WeakSet<Stored> = new WeakSet();

interface CreateOptions {
  readonly options: WriteOptions;
  /** Whether server-side apply has already set its managed fields. */
  readonly isTracked: boolean;
  /** Whether it was sent as an update of a missing object, which keeps more of its metadata. @default false */
  readonly isUpdate?: boolean;
}

/** The fields of metadata that a new object cannot set. */
const wiped = ["uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"];

export function wipeSystemFields({ metadata }: KubeObject): void {
  for (const field of wiped) delete metadata[field];
}

/**
 * Creates a decoded object.
 *
 * @returns the object as the resource shows it; a dry run stores nothing.
 */
export async function createObject(
  call: ApiCall,
  decoded: KubeObject,
  { options, isTracked, isUpdate = false }: CreateOptions,
): Promise<Stored> {
  const { kernel, resource, target, request } = call;
  const { storage, admission } = kernel;
  const { behaviour, schema, row } = resource;
  let object: KubeObject = { ...decoded, metadata: { ...decoded.metadata, creationTimestamp: null } };
  if (!isUpdate) wipeSystemFields(object);
  ensureNamespace(call, object);
  checkOwners(call, object);
  const sent = object;
  object = resetNew(resource, object);
  const name = object.metadata.name ?? "";
  const context = writeContext(call, "CREATE", { name, dryRun: options.dryRun });
  behaviour.default?.(object, context);
  if (!isTracked && hasForeignManagers(call, { next: object })) {
    object = withoutManagers(object);
  } else if (!isTracked && schema !== undefined) {
    object = updateManagedFields({
      schema,
      live: undefined,
      next: object,
      manager: managerOf(options.fieldManager, request),
      subresource: "",
      apiVersion: resource.apiVersion,
      now: context.now,
      resetFields: resetFields(call),
      hasEmpty: call.hasEmpty === true,
      sent: row.custom && sent !== object ? sent : undefined,
    });
  }
  if (resource.emptyStatus !== undefined) object["status"] ??= structuredClone(resource.emptyStatus);
  checkNamespaceOpen(call, name || (object.metadata.generateName ?? ""));
  const attributes = {
    context,
    object: object as KubeObject | undefined,
    oldObject: undefined,
    options: optionsObject("CreateOptions", options),
    ...(call.hasEmpty === true &&
      schema !== undefined &&
      !row.custom && { encoded: (one: KubeObject) => storedForm(schema, one) }),
  };
  const mutation = admission.mutate(attributes);
  if (mutation !== undefined) await mutation;
  object = attributes.object ?? object;
  if (mutation !== undefined) {
    if (schema !== undefined) object = decodedAgain(schema, object);
    behaviour.default?.(object, context);
  }
  if (row.group === rbacGroup) guardRole(roleWrite(call, object, undefined));
  const { metadata } = object;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = context.now;
  const isGenerated = !metadata.name && Boolean(metadata.generateName);
  if (isGenerated) metadata.name = generatedName(metadata.generateName ?? "");
  const generation = firstGeneration(resource);
  // Kinds without generations keep the one that was sent.
  if (generation !== undefined) metadata.generation = generation;
  behaviour.prepareForCreate?.(object, context);
  validateNew(call, object, context);
  for (const warning of behaviour.warnings?.(object, undefined, "") ?? []) context.warn(warning);
  // Admission sees built-in objects as they are encoded, without empty lists and maps.
  attributes.object =
    call.hasEmpty === true && schema !== undefined && !row.custom ? storedForm(schema, object) : object;
  if (isUpdate) mayCreate(call);
  const validation = admission.validate(attributes);
  if (validation !== undefined) await validation;
  if (!options.dryRun) delete metadata["selfLink"];
  // A version that is no number is as good as none.
  if (/^0*[1-9][0-9]*$/.test(metadata.resourceVersion ?? "") && !options.dryRun && !isUpdate)
    throw new StatusError(500, "", { message: "resourceVersion should not be set on objects to be created" });
  let key = keyOf(resource, target.namespace, metadata.name ?? "");
  const mostTries = isGenerated ? 8 : 0;
  for (let tries = 0; tries < mostTries && resource.collection.get(key) !== undefined; tries += 1) {
    metadata.name = generatedName(metadata.generateName ?? "");
    key = keyOf(resource, target.namespace, metadata.name);
  }
  refuseTaken(resource, key, metadata);
  if (call.hasEmpty === true && schema !== undefined) object = storedForm(schema, object);
  if (call.hasFloats === true) object = settled(object);
  const inStorage = await resource.toStorage(object);
  if (options.dryRun) {
    const made = new Stored(key, 0, { object: ordered(object) });
    return resource.readsLess ? await viewOf(resource, made, "") : made;
  }
  refuseTaken(resource, key, metadata);
  // Storage assigns the version; this reserves its place among the fields.
  const placed = { ...inStorage, metadata: { ...inStorage.metadata, resourceVersion: "" } };
  const stored = storage.put(resource.collection, key, ordered(placed));
  if (row.kind === "PersistentVolumeClaim") writtenAnew.add(stored);
  await storage.committed();
  const [view = stored] = await resource.view([stored]);
  return view;
}

/** An update that creates an object needs the permission to create. @throws StatusError 403 */
function mayCreate({ kernel, resource: { row }, target, user }: ApiCall): void {
  const { namespace, name, subresource } = target;
  const about = { group: row.group, resource: row.plural, subresource, namespace, name };
  const asked = { user, verb: "create", isResource: true, path: "", ...about };
  const { allowed, reason } = kernel.authorizer.authorize(asked);
  if (!allowed) throw accessForbidden(asked, reason);
}

/** Returns what is known of a write to a role or a binding. */
export function roleWrite(
  { kernel, resource, target, user }: ApiCall,
  next: KubeObject,
  old: KubeObject | undefined,
): RoleWrite {
  const { namespace, name } = target;
  return { authorizer: kernel.authorizer, user, plural: resource.row.plural, namespace, name, next, old };
}

export function optionsObject(kind: string, options: WriteOptions): Record<string, unknown> {
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

/** Requires the namespace of the path. @throws StatusError 400 when the object names another one. */
export function ensureNamespace({ resource, target }: ApiCall, { metadata }: KubeObject): void {
  const expected = resource.row.namespaced ? target.namespace : "";
  if (metadata.namespace === undefined || metadata.namespace === "" || expected === "") {
    if (expected === "") delete metadata.namespace;
    else metadata.namespace = expected;
  } else if (metadata.namespace !== expected) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** Rejects new objects in a namespace that does not exist or is being deleted. */
export function checkNamespaceOpen(
  { kernel, resource: { row }, target }: ApiCall,
  name: string | undefined = target.name,
): void {
  if (!row.namespaced || target.hasEmptyNamespace || row.kind === "LocalSubjectAccessReview") return;
  const namespace = kernel.reader.get({ group: "", plural: "namespaces" }, { name: target.namespace });
  if (namespace === undefined) throw notFound({ group: "", plural: "namespaces" }, target.namespace);
  const { phase } = (namespace["status"] ?? {}) as { phase?: string };
  if (phase !== "Terminating") return;
  const subject = row.group === "" ? row.plural : `${row.plural}.${row.group}`;
  const why = `unable to create new content in namespace ${target.namespace} because it is being terminated`;
  const named = name === "" ? subject : `${subject} ${JSON.stringify(name)}`;
  throw new StatusError(403, "Forbidden", {
    message: `${named} is forbidden: ${why}`,
    details: {
      ...(name === "" ? {} : { name }),
      ...(row.group === "" ? {} : { group: row.group }),
      kind: row.plural,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${target.namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    },
  });
}

function validateNew(call: ApiCall, object: KubeObject, context: WriteContext): void {
  const { resource } = call;
  const { behaviour, schema } = resource;
  const found = [
    ...(behaviour.validateCreate?.(object, context) ?? []),
    ...(schema === undefined || object.kind !== resource.row.kind
      ? []
      : validate(schema, object, { old: undefined, scale: resource.scale })),
  ];
  const errors = withAccessErrors(call, found, { next: object, old: undefined, context });
  if (errors.length > 0) {
    throw invalid(invalidKind(resource.row, object.kind), object.metadata.name ?? "", { errors });
  }
}

/** Returns the kind's name in a rejection: events of both groups are the same internally. */
export function invalidKind(row: { readonly group: string }, kind: string): { group: string; kind: string } {
  return { group: row.group === "events.k8s.io" ? "" : row.group, kind };
}

/** The alphabet has no vowels, so that no words arise. */
const letters = "bcdfghjklmnpqrstvwxz2456789";

function generatedName(base: string): string {
  let suffix = "";
  for (let index = 0; index < 5; index += 1) suffix += letters[Math.floor(Math.random() * letters.length)] ?? "x";
  return `${base.slice(0, 58)}${suffix}`;
}

/** Rejects an existing key. @throws StatusError 409 when there is an object. */
function refuseTaken({ collection, row }: Resource, key: string, metadata: KubeObject["metadata"]): void {
  const taken = collection.get(key);
  if (taken === undefined) return;
  const { name = "", generateName } = metadata;
  throw (generateName ? noUniqueName : alreadyExists)(row, name, taken.object);
}
