/**
 * Resource handles: one value from which a kind's types, paths and scope follow.
 *
 * A handle has a single, covariant type parameter, so arrays of handles need no `any`.
 */
import type { Condition, MetaInput, ObjectMeta } from "./meta.ts";

export type Scope = "Namespaced" | "Cluster";

/** The types that a handle knows of its kind. */
export interface Shape {
  readonly apiVersion: string;
  readonly kind: string;
  readonly scope: Scope;
  /** The object that the API server returns. */
  readonly read: { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMeta };
  /** The object that is written, without `apiVersion` and `kind`. */
  readonly write: object;
  readonly status: unknown;
}

declare const shape: unique symbol;

/**
 * A kind of the Kubernetes API.
 *
 * Two handles mean the same resource when group and kind are equal.
 */
export interface Resource<out S extends Shape = Shape> {
  readonly [shape]: S;
  readonly apiVersion: S["apiVersion"];
  readonly kind: S["kind"];
  /** The scope; a handle of `resource()` has `Namespaced` until discovery determines it. */
  readonly scope: S["scope"];
  readonly group: string;
  readonly version: string;
  /** The name in paths, such as `deployments`; `undefined` for a handle of `resource()`, because discovery finds it. */
  readonly plural: string | undefined;
  /** The subresources, such as `status` and `scale`; `undefined` when only discovery knows them. */
  readonly subresources: readonly string[] | undefined;
}

export type AnyObject = Shape["read"];
export type ObjectOf<R extends Resource> = R[typeof shape]["read"];
export type SpecOf<R extends Resource> = ObjectOf<R> extends { readonly spec: infer P } ? P : never;
export type StatusOf<R extends Resource> = R[typeof shape]["status"];

/**
 * One of several kinds, for a function that works with each of them:
 * `(kind: OneOf<typeof Deployment | typeof StatefulSet>) => client.list(kind)`.
 */
export type OneOf<R extends Resource> = Resource<R[typeof shape]>;

/** The object to write: its literal `apiVersion` and `kind` make it a member of a discriminated union. */
export type Desired<S extends Shape> = S extends Shape
  ? { readonly apiVersion: S["apiVersion"]; readonly kind: S["kind"] } & S["write"]
  : never;

/** The shape of a built-in kind, as the generated tables describe it. */
export interface BuiltinShape<
  A extends string,
  K extends string,
  Sc extends Scope,
  Read extends Shape["read"],
  Write extends object,
  Status,
> {
  readonly apiVersion: A;
  readonly kind: K;
  readonly scope: Sc;
  readonly read: Read;
  readonly write: Write;
  readonly status: Status;
}

/** The properties of a kind at run time. */
export interface ResourceInfo {
  readonly apiVersion: string;
  readonly kind: string;
  readonly scope: Scope;
  readonly plural?: string | undefined;
  readonly subresources?: readonly string[] | undefined;
}

/** Returns the API group of an `apiVersion`; the core group is the empty string. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/** Makes a handle from the properties of a kind. */
export function handle<S extends Shape>(info: ResourceInfo): Resource<S> {
  const group = groupOf(info.apiVersion);
  return Object.freeze({
    apiVersion: info.apiVersion,
    kind: info.kind,
    scope: info.scope,
    group,
    version: group === "" ? info.apiVersion : info.apiVersion.slice(group.length + 1),
    plural: info.plural,
    subresources: info.subresources,
  }) as unknown as Resource<S>;
}

/** The shape of a kind of which only metadata is read. */
export interface MetadataShape<S extends Shape> extends Shape {
  readonly apiVersion: S["apiVersion"];
  readonly kind: S["kind"];
  readonly scope: S["scope"];
  readonly read: MetadataOf<S["read"]>;
  readonly write: S["write"];
  readonly status: unknown;
}

/** The part of an object that `select: "metadata"` reads. */
export type MetadataOf<T extends AnyObject> = Pick<T, "apiVersion" | "kind" | "metadata">;

const ofMetadata: unique symbol = Symbol.for("binnacle.metadata") as never;

/** Makes a handle that reads nothing but metadata. */
export function metadataHandle<S extends Shape>(resource: Resource<S>): Resource<MetadataShape<S>> {
  return { ...resource, [ofMetadata]: true } as unknown as Resource<MetadataShape<S>>;
}

/** Whether a handle comes from {@link metadataHandle}. */
export function readsMetadata(resource: Resource): boolean {
  return ofMetadata in resource;
}

/** Adds apiVersion and kind, as in `of(Deployment, { metadata, spec })`. */
export function of<S extends Shape>(resource: Resource<S>, object: S["write"]): Desired<S> {
  return { apiVersion: resource.apiVersion, kind: resource.kind, ...object } as Desired<S>;
}

/** A status of unknown type. */
export type UntypedStatus = Readonly<Record<string, unknown>> & {
  readonly conditions?: readonly Condition[] | undefined;
};

/**
 * Makes an untyped handle; path, scope and subresources come from discovery. {@link foreignResource} makes a typed one.
 */
export function resource<Read extends AnyObject = AnyObject & Readonly<Record<string, unknown>>>(
  apiVersion: string,
  kind: string,
): Resource<{
  apiVersion: string;
  kind: string;
  scope: Scope;
  read: Read;
  write: { metadata: MetaInput } & Readonly<Record<string, unknown>>;
  status: UntypedStatus;
}> {
  return handle({ apiVersion, kind, scope: "Namespaced" });
}

/**
 * Identifies a resource as `<kind>.<group>`, with `Pod.` for the core group; versions of a kind are the same resource.
 */
export function groupKind(resource: { readonly group: string; readonly kind: string }): string {
  return `${resource.kind}.${resource.group}`;
}
