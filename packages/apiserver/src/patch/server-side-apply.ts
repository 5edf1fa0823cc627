/** Server-side apply. @see https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
import type { Fields, KubeObject, ObjectMetadata } from "../hooks.ts";
import { objectMetaSchema } from "../schema/custom.ts";
import { decodeBuiltIn } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";
import { badRequest, StatusError } from "../status.ts";
import { atomOf } from "./atom.ts";
import { allowedByLastApplied, lastAppliedKey, lastAppliedOf } from "./last-applied.ts";
import {
  decodeManagers,
  encodeManagers,
  type ManagerName,
  managerKey,
  managerName,
  type Managers,
} from "./managers.ts";
import { type Conflict, Conflicts, ownApply, type Typed, Unconvertible } from "./ownership.ts";
import { typeErrors } from "./typed-validate.ts";
import {
  applyUpdate,
  emptyObject,
  stripped,
  type VersionOptions,
  versionsOf,
  withManagedFields,
} from "./update-managed-fields.ts";

export interface ApplyOptions extends VersionOptions {
  readonly schema: Schema;
  /** The live object in the version of the request; `undefined` when it is to be created. */
  readonly live: KubeObject | undefined;
  /** The object that the client sent. */
  readonly applied: Fields;
  readonly manager: string;
  readonly force: boolean;
  /** The subresource; `""` for the object itself. */
  readonly subresource: string;
  /** The version of the request. */
  readonly apiVersion: string;
  /** The kind. @default that of the live object, otherwise whatever is applied */
  readonly kind?: string;
  /** The time as RFC 3339 in whole seconds. */
  readonly now: string;
}

export interface Applied {
  /** The object before defaults, with managedFields. */
  readonly object: KubeObject;
  /** Whether anything besides managedFields changed. */
  readonly changed: boolean;
}

/**
 * Merges the applied object into the live one, and removes what its manager applied before and nobody else owns.
 *
 * @throws StatusError 409 with the conflicts unless forced, 400 for another version, and 500 when a value does not fit
 * the schema, as the real server does
 */
export function serverSideApply(options: ApplyOptions): Applied {
  const { schema, applied, apiVersion, subresource, now } = options;
  checkApplied(options);
  const atom = atomOf(schema);
  const wrong = typeErrors(applied, atom);
  if (wrong) {
    const message = `failed to create typed patch object (${nameOf(applied)}; ${gvkOf(applied)}): ${wrong}`;
    throw new StatusError(500, "", { message });
  }
  const live = options.live ?? emptyObject(schema, applied);
  const { managers, base } = liveManagers(live, options);
  const name: ManagerName = { manager: options.manager || "unknown", operation: "Apply", apiVersion, subresource };
  const manager = managerKey(name);
  const context = {
    live: { value: base, atom },
    config: { value: applied, atom },
    versions: versionsOf(options),
    manager,
  };
  let value: unknown;
  try {
    value = ownApplyAsKubectl(managers, { ...context, options, live: context.live });
  } catch (error) {
    if (error instanceof Conflicts) throw applyConflict(error.conflicts);
    if (error instanceof Unconvertible) throw new StatusError(500, "", { message: error.message });
    throw error;
  }
  const own = managers.get(manager);
  if (own) {
    const set = stripped(own.set);
    if (set.empty) managers.delete(manager);
    else managers.set(manager, { ...own, set, time: value === undefined ? own.time : now });
  }
  const next = value === undefined ? base : finish(value, options);
  const object = withManagedFields(next, encodeManagers(managers));
  return { object: syncLastApplied(object, options), changed: value !== undefined };
}

/** Checks the applied object. @throws StatusError 400 for another kind or version, or one that has managedFields */
function checkApplied({ applied, apiVersion, live, kind }: ApplyOptions): void {
  const [group, version] = groupVersion(applied.apiVersion);
  const isKind = textOf(applied.kind) !== "" && applied.kind === (kind ?? live?.kind ?? applied.kind);
  if (!isKind || (group === "" ? version : `${group}/${version}`) !== apiVersion)
    throw badRequest(`invalid object type: ${gvkOf(applied)}`);
  if (Array.isArray((applied.metadata as Fields | undefined)?.managedFields))
    throw badRequest("metadata.managedFields must be nil");
}

/**
 * Returns the managers of the live object and removes its managedFields; fields without an owner belong to
 * "before-first-apply".
 */
function liveManagers(live: KubeObject, options: ApplyOptions): { managers: Managers; base: KubeObject } {
  const decoded = decodeManagers(live.metadata?.managedFields);
  if (!decoded) throw new StatusError(500, "", { message: "failed to decode managed fields: not well formed" });
  const base = withManagedFields(live, undefined);
  if (decoded.size === 0) {
    applyUpdate(decoded, { ...options, live: undefined, next: base, manager: "before-first-apply" });
  }
  return { managers: decoded, base };
}

interface KubectlApply {
  readonly live: Typed;
  readonly config: Typed;
  readonly versions: ReturnType<typeof versionsOf>;
  readonly manager: string;
  readonly options: ApplyOptions;
}

/**
 * Gives kubectl's server-side manager the fields that it applied on the client before, so that it meets no conflicts.
 */
function ownApplyAsKubectl(managers: Managers, { options, ...apply }: KubectlApply): unknown {
  const before: Managers = new Map(managers);
  try {
    return ownApply(managers, { ...apply, force: options.force });
  } catch (error) {
    if (!(error instanceof Conflicts) || options.manager !== "kubectl") throw error;
    const allowed = allowedByLastApplied(apply.live, options.apiVersion);
    if (!allowed) throw error;
    const left = error.conflicts
      .map(({ manager, paths }) => ({ manager, paths: paths.filter((path) => !allowed.has(path)) }))
      .filter(({ paths }) => paths.length > 0);
    if (left.length > 0) throw new Conflicts(left);
    managers.clear();
    for (const [key, managed] of before) managers.set(key, managed);
    return ownApply(managers, { ...apply, force: true });
  }
}

/** Updates the annotation of client-side apply when kubectl applies on the server. */
function syncLastApplied(object: KubeObject, { manager, applied }: ApplyOptions): KubeObject {
  if (manager !== "kubectl" || !object.metadata.annotations?.[lastAppliedKey]) return object;
  const annotations = { ...object.metadata.annotations, [lastAppliedKey]: lastAppliedOf(applied) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function finish(value: unknown, { schema, applied }: ApplyOptions): KubeObject {
  if (!schema.go) {
    const object = value as KubeObject;
    return { ...object, metadata: wellFormed(object.metadata) };
  }
  const { object, error } = decodeBuiltIn(schema, value, { from: "unstructured", empty: "kept" });
  if (error) {
    const gvk = gvkOf(applied);
    const what = `failed to convert new object (${nameOf(applied)}; ${gvk}) to proper version`;
    const said = error.startsWith("illegal base64") ? `error decoding from json: ${error}` : error;
    const message = `${what}: unable to convert unstructured object to ${gvk}: ${said}`;
    throw new StatusError(500, "", { message });
  }
  return object as KubeObject;
}

/** Returns metadata without the fields that cannot be read. */
function wellFormed(metadata: Fields): ObjectMetadata {
  const { object, error } = decodeBuiltIn(objectMetaSchema(), metadata);
  if (error === undefined) return object as ObjectMetadata;
  const readable = Object.entries(metadata).filter(
    ([name, value]) => decodeBuiltIn(objectMetaSchema(), { [name]: value }).error === undefined,
  );
  return decodeBuiltIn(objectMetaSchema(), Object.fromEntries(readable)).object as ObjectMetadata;
}

function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const sorted = conflicts.toSorted((a, b) => (a.manager < b.manager ? -1 : 1));
  const causes = sorted.flatMap(({ manager, paths }) =>
    paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${printed(manager)}`, field })),
  );
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`
      : `Apply failed with ${causes.length} conflicts: ${sorted
          .flatMap(({ manager, paths }) => [`conflicts with ${printed(manager)}:`, ...paths.map((path) => `- ${path}`)])
          .join("\n")}`;
  return new StatusError(409, "Conflict", { message, details: { causes } });
}

function printed(key: string): string {
  const { manager, subresource, operation, apiVersion } = managerName(key);
  const name = JSON.stringify(manager) + (subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}

function nameOf(applied: Fields): string {
  const { namespace, name } = (applied.metadata ?? {}) as Fields;
  return `${textOf(namespace)}/${textOf(name)}`;
}

/** Parses group and version; an invalid value yields `undefined`. */
function groupVersion(apiVersion: unknown): readonly [group: string, version: string] {
  const [group = "", version, ...more] = textOf(apiVersion).split("/");
  if (more.length > 0) return ["", ""];
  return version === undefined ? ["", group] : [group, version];
}

function gvkOf({ apiVersion, kind }: Fields): string {
  const [group, version] = groupVersion(apiVersion);
  // A version that cannot be parsed invalidates the kind too.
  const isUnread = textOf(apiVersion).split("/").length > 2;
  return `${group}/${version}, Kind=${isUnread ? "" : textOf(kind)}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
