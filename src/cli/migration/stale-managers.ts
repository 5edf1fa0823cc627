/**
 * Moves managers of an object's fields out of versions that are not served any more.
 *
 * After such a version is removed from the definition, kube-apiserver rejects every server-side apply of the object
 * ("request to convert CR to an invalid group/version"). So the fields that these managers own are recorded in the
 * storage version instead, as far as it has the same fields. A field without a counterpart has no owner until a manager
 * applies it again.
 */
import type { CustomDefinition } from "./custom-definition.ts";
import { storageVersion } from "./custom-definition.ts";

/** An entry of `metadata.managedFields`. */
export interface Manager {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly fieldsV1?: FieldSet;
  readonly [field: string]: unknown;
}

/** A set of fields: names such as `f:spec`, and `k:`, `v:` and `i:` for elements of lists. */
interface FieldSet {
  readonly [path: string]: FieldSet;
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

/** Used when no other entry is left, because without any the server would assign all fields to a manager of its own. */
const PLACEHOLDER: FieldSet = { "f:metadata": { "f:name": {} } };

/** Returns the managers in the form in which they must be recorded; `undefined` when they already have it. */
export function currentManagers(
  managers: readonly Manager[] | undefined,
  definition: CustomDefinition,
): readonly Manager[] | undefined {
  const { group, versions } = definition.spec;
  const isServed = (apiVersion = ""): boolean =>
    !apiVersion.startsWith(`${group}/`) ||
    versions.some(({ name, served }) => served && apiVersion === `${group}/${name}`);
  if (managers === undefined || managers.every(({ apiVersion }) => isServed(apiVersion))) return undefined;
  const storage = storageVersion(definition);
  const schema = versions.find(({ name }) => name === storage)?.schema?.openAPIV3Schema as Schema | undefined;
  const current = new Map<string, Manager>();
  for (const entry of managers) {
    const moved = isServed(entry.apiVersion)
      ? entry
      : { ...entry, apiVersion: `${group}/${storage}`, fieldsV1: known(entry.fieldsV1 ?? {}, schema) ?? {} };
    const { manager = "", operation = "", apiVersion = "", subresource = "" } = moved;
    const key = JSON.stringify([manager, operation, apiVersion, subresource]);
    const other = current.get(key);
    current.set(key, other === undefined ? moved : { ...moved, fieldsV1: union(other.fieldsV1, moved.fieldsV1) });
  }
  const entries = [...current.values()];
  const remaining = entries.filter(({ fieldsV1 = {} }) => Object.keys(fieldsV1).length > 0);
  return remaining.length > 0 ? remaining : [{ ...entries[0]!, fieldsV1: PLACEHOLDER }];
}

/** Returns the fields of a set that a schema has; `undefined` when it has none of them. */
function known(fields: FieldSet, schema: Schema | undefined, isRoot = true): FieldSet | undefined {
  const names = Object.keys(fields).filter((name) => name !== ".");
  if (names.length === 0) return fields;
  const paths: Record<string, FieldSet> = fields["."] === undefined ? {} : { ".": fields["."] };
  let isFound = false;
  for (const name of names) {
    const inner = fields[name]!;
    const place = isRoot && /^f:(metadata|apiVersion|kind)$/.test(name) ? ANYTHING : partOf(schema, name);
    const part = place && known(inner, place, false);
    if (part === undefined) continue;
    paths[name] = part;
    isFound = true;
  }
  return isFound ? paths : undefined;
}

const ANYTHING: Schema = { "x-kubernetes-preserve-unknown-fields": true };

/** Returns the schema at one step of a path; `undefined` when there is none. */
function partOf(schema: Schema | undefined, step: string): Schema | undefined {
  if (schema === undefined) return undefined;
  const anything = schema["x-kubernetes-preserve-unknown-fields"] ? ANYTHING : undefined;
  if (!step.startsWith("f:")) return schema.type === "array" ? (schema.items ?? ANYTHING) : anything;
  const { additionalProperties } = schema;
  const other = additionalProperties === true ? ANYTHING : additionalProperties || undefined;
  return schema.properties?.[step.slice("f:".length)] ?? other ?? anything;
}

function union(one: FieldSet = {}, other: FieldSet = {}): FieldSet {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, union(one[name], other[name])]));
}
