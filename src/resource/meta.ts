/** Object metadata, keys and conditions, which all kinds share. */

/**
 * The key of an object. It is not called `Request`, because that is the global of fetch, and Hono handlers are in the
 * same files.
 */
export interface Key {
  readonly name: string;
  readonly namespace?: string | undefined;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}

/**
 * A manager's entry; decoding keeps only those of this binary's managers. @see
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export interface ManagedFieldsEntry {
  readonly manager?: string | undefined;
  readonly operation?: string | undefined;
  readonly apiVersion?: string | undefined;
  readonly time?: string | undefined;
  readonly fieldsType?: string | undefined;
  readonly fieldsV1?: FieldsV1 | undefined;
  readonly subresource?: string | undefined;
}

/** The set of fields that a manager owns: `f:<field>`, `k:<keys as JSON>`, `v:<value as JSON>` and `.`. */
export interface FieldsV1 {
  readonly [path: string]: FieldsV1;
}

/** The metadata that the server returns. Times are RFC 3339 strings, as on the wire. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number | undefined;
  readonly generateName?: string | undefined;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string | undefined;
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
}

/** The metadata of an object in a namespace. */
export interface NamespacedMeta extends ObjectMeta {
  readonly namespace: string;
}

/** The metadata that the server returns for objects of a scope. */
export type ReadMeta<Sc extends "Namespaced" | "Cluster"> = [Sc] extends ["Namespaced"] ? NamespacedMeta : ObjectMeta;

/** The metadata that an author writes. */
export interface MetaInput {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
}

/**
 * @see
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties
 */
export interface Condition<Type extends string = string> {
  readonly type: Type;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number | undefined;
}

/** A type that is kept as it is, including `string & {}`, a text of which some values have names. */
type Primitive = string | number | bigint | boolean | symbol | null | undefined;

export type DeepReadonly<T> = T extends Primitive
  ? T
  : T extends (infer U)[]
    ? readonly DeepReadonly<U>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T;

export type Draft<T> = T extends Primitive
  ? T
  : T extends readonly (infer U)[]
    ? Draft<U>[]
    : T extends object
      ? { -readonly [K in keyof T]: Draft<T[K]> }
      : T;

/** Returns the key of stores and queues: `namespace/name`, or `name` for a cluster-scoped object. */
export function keyString(key: Key): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name;
}

/** The inverse of {@link keyString}. */
export function parseKey(key: string): Key {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * Compares resource versions as numbers of any length.
 *
 * @returns negative, 0 or positive.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
export function compareVersions(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
