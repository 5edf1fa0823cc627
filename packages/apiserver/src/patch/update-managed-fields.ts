/** Updates managedFields after a create, an update, or a patch other than apply. */
import type { Fields, KubeObject } from "../hooks.ts";
import { decodeBuiltIn } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";
import { builtInSchema } from "../tables/tables.ts";
import { atomOf } from "./atom.ts";
import { FieldSet } from "./field-set.ts";
import { capUpdaters, decodeManagers, encodeManagers, managerKey, type Managers, neverOwned } from "./managers.ts";
import { ownUpdate, Unconvertible, type Versions } from "./ownership.ts";
import { fieldElement } from "./path-element.ts";
import { typeErrors } from "./typed-validate.ts";

/** Converts an object to another version of its kind, with that version's schema; `undefined` when it is not served. */
export type ConvertVersion = (
  object: KubeObject,
  apiVersion: string,
) => { readonly object: KubeObject; readonly schema: Schema } | undefined;

export interface VersionOptions {
  readonly schema: Schema;
  readonly apiVersion: string;
  /** Paths that the write cannot change, such as `["status"]`. @default none */
  readonly resetFields?: readonly (readonly string[])[];
  /** Converts between versions. @default all versions are alike */
  readonly convert?: ConvertVersion | undefined;
}

export interface UpdateOptions extends VersionOptions {
  /** The live object in the version of the request; `undefined` on create. */
  readonly live: KubeObject | undefined;
  /** The decoded object that the client sent. */
  readonly next: KubeObject;
  readonly manager: string;
  /** The subresource; `""` for the object itself. */
  readonly subresource: string;
  /** The time as RFC 3339 in whole seconds. */
  readonly now: string;
  /** Whether the live object was written under another definition, whose types may differ. @default false */
  readonly isOlder?: boolean;
  /** Whether `next` has empty lists or maps. Only those that are encoded get an owner. @default false */
  readonly hasEmpty?: boolean;
  /**
   * The object of the request, when its path does not write every field that differs from the live object. @default
   * `next`
   */
  readonly sent?: KubeObject | undefined;
}

/** Returns `next` with managedFields; the fields that differ from `live` now belong to `manager`. */
export function updateManagedFields(options: UpdateOptions): KubeObject {
  const { live, next, subresource } = options;
  if (options.hasEmpty === true && options.schema.go !== undefined) return updateManagedFieldsOfEmpty(options);
  const requested = next.metadata?.managedFields;
  const managers = managersToStartFrom(live, { asked: requested, subresource });
  const bare = withManagedFields(next, undefined);
  if (lacksKeys(bare)) return bare;
  // An object whose managers were removed stays without any.
  if (managers.size === 0 && live?.metadata.uid !== undefined) return bare;
  if ((options.isOlder === true || options.sent !== undefined) && !isTyped(options)) return bare;
  try {
    dropUnknownVersions(managers, options);
    applyUpdate(managers, { ...options, live: live && withManagedFields(live, undefined), next: bare });
  } catch (error) {
    // kube-apiserver drops all managers when the version of one does not declare a field that the object has.
    if (error instanceof Unconvertible) return bare;
    throw error;
  }
  return withManagedFields(bare, encodeManagers(managers));
}

/** Whether both objects have the types of the schema. kube-apiserver drops the managers of objects that do not. */
function isTyped({ schema, live, next, isOlder, sent }: UpdateOptions): boolean {
  const atom = atomOf(schema);
  const objects = isOlder === true ? [live, next, sent] : [sent];
  return objects.every((object) => typeErrors(object, atom, { allowDuplicates: true }) === undefined);
}

/** Removes what managers own in versions that the kind does not have. */
function dropUnknownVersions(managers: Managers, { schema, next, apiVersion }: UpdateOptions): void {
  if (schema.go === undefined) return;
  for (const [key, managed] of managers) {
    if (managed.apiVersion === apiVersion) continue;
    const slash = managed.apiVersion.indexOf("/");
    const [group, version] = [managed.apiVersion.slice(0, Math.max(slash, 0)), managed.apiVersion.slice(slash + 1)];
    if (builtInSchema({ group, version, kind: next.kind }) === undefined) managers.delete(key);
  }
}

/**
 * Whether a list has items without the name that identifies them, although no rule requires it. Then no field of the
 * object has an owner.
 */
function lacksKeys({ kind, ...object }: KubeObject): boolean {
  if (kind !== "ServiceAccount" || !Array.isArray(object["secrets"])) return false;
  return object["secrets"].some(
    (secret: { readonly name?: string }) => secret.name === undefined || secret.name === "",
  );
}

function updateManagedFieldsOfEmpty(options: UpdateOptions): KubeObject {
  const encoded = decodeBuiltIn(options.schema, options.next, { empty: "encoded" }).object as KubeObject;
  const next = withManagedFields(encoded, options.next.metadata?.managedFields);
  return withManagedFields(
    options.next,
    updateManagedFields({ ...options, next, hasEmpty: false }).metadata.managedFields,
  );
}

/** Applies an update; it changes `managers`. */
export function applyUpdate(managers: Managers, options: UpdateOptions): void {
  const { schema, live, next, apiVersion, subresource, now } = options;
  const atom = atomOf(schema);
  const self = "current-operation";
  ownUpdate(managers, {
    live: { value: live ?? emptyObject(schema, next), atom },
    next: { value: next, atom },
    versions: versionsOf(options),
    manager: self,
  });
  const own = managers.get(self);
  managers.delete(self);
  const set = own && stripped(own.set);
  const name = { manager: options.manager || "unknown", operation: "Update" as const, apiVersion, subresource };
  const key = managerKey(name);
  if (own && set && !set.empty) {
    const before = managers.get(key);
    managers.set(key, { ...own, set: before ? set.union(before.set) : set, time: now });
  }
  capUpdaters(managers);
}

export function stripped(set: FieldSet): FieldSet {
  return set.difference(neverOwned);
}

function managersToStartFrom(
  live: KubeObject | undefined,
  { asked, subresource }: { readonly asked: readonly Fields[] | undefined; readonly subresource: string },
): Managers {
  if (subresource !== "") return decodeManagers(live?.metadata.managedFields) ?? new Map();
  if (asked?.length === 0 || (asked?.length === 1 && Object.keys(asked[0] ?? {}).length === 0)) return new Map();
  const managers = decodeManagers(asked);
  if (managers && managers.size > 0) return managers;
  return decodeManagers(live?.metadata.managedFields) ?? new Map();
}

/** Returns the object with which a create is compared; for built-in kinds it is Go's zero value. */
export function emptyObject(schema: Schema, { apiVersion, kind }: Fields): KubeObject {
  const bare = { apiVersion, kind };
  return (schema.go ? decodeBuiltIn(schema, bare).object : bare) as KubeObject;
}

export function withManagedFields(object: KubeObject, managedFields: Fields[] | undefined): KubeObject {
  const { managedFields: before, ...metadata } = object.metadata ?? {};
  if (before === undefined && managedFields === undefined) return object;
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}

export function versionsOf({ apiVersion, resetFields, convert }: VersionOptions): Versions {
  const ignored =
    resetFields === undefined || resetFields.length === 0
      ? undefined
      : FieldSet.of(resetFields.map((path) => path.map(fieldElement)));
  return {
    apiVersion,
    convert(typed, to) {
      const { apiVersion: from } = typed.value as KubeObject;
      if (from === to || !convert) return typed;
      const converted = convert(typed.value as KubeObject, to);
      return converted && { value: converted.object, atom: atomOf(converted.schema) };
    },
    ignored: () => ignored,
  };
}
