/** `defineResource` defines a new kind with zod schemas. */
import type { z } from "zod";
import { type ResourceDefinition, resourceBrand } from "./definition.ts";
import { handle, type Resource, type Scope } from "./handle.ts";
import type { DeepReadonly, MetaInput, ObjectMeta, ReadMeta } from "./meta.ts";
import { checkGroup, checkVersion, type NamesInput, namesOf } from "./names.ts";
import { SchemaProblem } from "./schema/structural.ts";
import { type AnyVersionOptions, checkKeys, versionDefinition, type VersionOptions } from "./version.ts";

export { crdOf } from "./crd.ts";
export { definitionOf } from "./definition.ts";

/** A status that was not declared has no fields to set. */
type NoStatus = z.ZodType<{ [key: string]: never }>;

/** The names and the scope of a kind. */
interface KindOptions<G extends string, K extends string, Sc extends Scope> {
  /** The API group, a DNS name with a dot such as `demo.example.com`. */
  readonly group: G;
  /** The kind, such as `Guestbook`. */
  readonly kind: K;
  /** @default "Namespaced" */
  readonly scope?: Sc;
  /** Replacements of derived names. */
  readonly names?: NamesInput;
}

/** A kind with one version. */
export interface ResourceOptions<
  G extends string,
  V extends string,
  K extends string,
  Sc extends Scope,
  Spec extends z.ZodType,
  Status extends z.ZodType,
>
  extends KindOptions<G, K, Sc>, VersionOptions<Spec, Status> {
  /** The version, such as `v1` or `v1alpha1`. */
  readonly version: V;
}

/** An object of one version, as conversions receive it. */
export interface VersionObject<Spec extends z.ZodType, Status> {
  readonly metadata: ObjectMeta;
  readonly spec: DeepReadonly<z.output<Spec>>;
  readonly status?: DeepReadonly<Status> | undefined;
}

/** The result of a conversion; apiVersion, kind and other metadata are added. */
export interface ConvertedObject<Spec extends z.ZodType, Status> {
  /** Labels and annotations. @default those of the converted object */
  readonly metadata?: Pick<MetaInput, "labels" | "annotations">;
  readonly spec: DeepReadonly<z.input<Spec>>;
  readonly status?: DeepReadonly<Status> | undefined;
}

/** The status schema of a version; a version without one gets an unknown status. */
type StatusAt<Statuses, V> = V extends keyof Statuses
  ? Statuses[V] extends z.ZodType
    ? Statuses[V]
    : NoStatus
  : NoStatus;
type OutputAt<Statuses, V> = z.output<StatusAt<Statuses, V>>;

/** One of several versions, with its conversions to the hub and back. */
export interface Conversions<Spec extends z.ZodType, Status, HubSpec extends z.ZodType, HubStatus> {
  /** Converts from this version to the hub; every version except the hub has it. */
  readonly toHub?: (old: VersionObject<Spec, Status>) => ConvertedObject<HubSpec, HubStatus>;
  /** Converts from the hub to this version; every version except the hub has it. */
  readonly fromHub?: (hub: VersionObject<HubSpec, HubStatus>) => ConvertedObject<Spec, Status>;
  /**
   * Fields of either version, such as `spec.zone`, that are lost, with everything in them, in a conversion to the other
   * version and back. `binnacle check` rejects every other loss.
   *
   * @default none
   */
  readonly loses?: readonly string[];
}

/** A kind with several versions. */
export interface VersionedResourceOptions<
  G extends string,
  K extends string,
  Sc extends Scope,
  Specs extends Readonly<Record<string, z.ZodType>>,
  Statuses,
  Hub extends keyof Specs & string,
> extends KindOptions<G, K, Sc> {
  readonly versions: {
    readonly [V in keyof Specs]: Omit<VersionOptions<z.ZodType, z.ZodType>, "spec" | "status"> & {
      readonly spec: Specs[V];
      readonly status?: z.ZodType;
    } & Conversions<Specs[V], OutputAt<Statuses, V>, Specs[Hub], OutputAt<Statuses, Hub>>;
  } & { readonly [V in keyof Statuses]: { readonly status?: Statuses[V] } };
  /** The version that controllers use; all others are converted to and from it. */
  readonly hub: Hub;
  /** The version that the API server stores. */
  readonly storage: keyof Specs & string;
}

/** The shape of a defined kind. */
export interface DefinedShape<
  G extends string,
  V extends string,
  K extends string,
  Sc extends Scope,
  Spec extends z.ZodType,
  Status extends z.ZodType,
> {
  readonly apiVersion: `${G}/${V}`;
  readonly kind: K;
  readonly scope: Sc;
  readonly read: {
    readonly apiVersion: `${G}/${V}`;
    readonly kind: K;
    readonly metadata: ReadMeta<Sc>;
    readonly spec: DeepReadonly<z.output<Spec>>;
    readonly status?: DeepReadonly<z.output<Status>>;
  };
  readonly write: { readonly metadata: MetaInput; readonly spec: DeepReadonly<z.input<Spec>> };
  readonly status: DeepReadonly<z.input<Status>>;
}

/** The versions of a kind besides the hub, each as a handle of its own. */
export interface OtherVersions<
  G extends string,
  K extends string,
  Sc extends Scope,
  Specs extends Readonly<Record<string, z.ZodType>>,
  Statuses,
  Hub extends string,
> {
  /**
   * Handles for a client that reads and writes objects in a version other than the hub, such as
   * `client.get(Report.versions.v1beta1, key)`.
   */
  readonly versions: {
    readonly [V in Exclude<keyof Specs & string, Hub>]: Resource<
      DefinedShape<G, V, K, Sc, Specs[V], StatusAt<Statuses, V>>
    >;
  };
}

/**
 * Defines a kind: its types, its CustomResourceDefinition and its handle.
 *
 * Everything is checked at once: a schema that the API server would refuse, or would not check as zod does, is an error
 * that names the place and the alternative.
 *
 * @throws TypeError `Cannot define resource <kind>: …`
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
 * @example
 * export const Guestbook = defineResource({
 *   group: "demo.example.com", version: "v1", kind: "Guestbook",
 *   spec: z.object({ message: z.string().min(1), replicas: z.int().min(0).default(1) }),
 *   status: z.object({ readyReplicas: z.int().optional(), conditions: conditions("Ready") }),
 * });
 */
export function defineResource<
  const G extends string,
  const K extends string,
  const Hub extends keyof Specs & string,
  Specs extends Readonly<Record<string, z.ZodType>>,
  Statuses = {},
  const Sc extends Scope = "Namespaced",
>(
  definition: VersionedResourceOptions<G, K, Sc, Specs, Statuses, Hub>,
): Resource<DefinedShape<G, Hub, K, Sc, Specs[Hub], StatusAt<Statuses, Hub>>> &
  OtherVersions<G, K, Sc, Specs, Statuses, Hub>;
export function defineResource<
  const G extends string,
  const V extends string,
  const K extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType = NoStatus,
  const Sc extends Scope = "Namespaced",
>(definition: ResourceOptions<G, V, K, Sc, Spec, Status>): Resource<DefinedShape<G, V, K, Sc, Spec, Status>>;
export function defineResource(options: unknown): never {
  try {
    return checkedHandle(options as AnyResourceOptions) as never;
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SchemaProblem)) throw error;
    const { kind } = (options ?? {}) as { readonly kind?: unknown };
    throw new TypeError(`Cannot define resource ${typeof kind === "string" ? kind : "of no kind"}: ${error.message}`, {
      cause: error,
    });
  }
}

interface AnyResourceOptions extends KindOptions<string, string, Scope> {
  readonly version?: string;
  readonly versions?: Readonly<Record<string, AnyVersionOptions>>;
  readonly hub?: string;
  readonly storage?: string;
}

const kindKeys = ["group", "kind", "scope", "names"];
const versionKeys = ["spec", "status", "columns", "rules", "scale", "selectableFields", "served", "deprecated"];

function checkedHandle(options: AnyResourceOptions): Resource {
  if (typeof options !== "object" || options === null) throw new TypeError("it needs { group, version, kind, spec }");
  const several = options.versions !== undefined;
  checkKeys(options, several ? [...kindKeys, "versions", "hub", "storage"] : [...kindKeys, "version", ...versionKeys]);
  for (const option of several ? ["group", "kind", "hub", "storage"] : ["group", "kind", "version"]) {
    if (typeof (options as unknown as Record<string, unknown>)[option] !== "string")
      throw new TypeError(`'${option}' must be text`);
  }
  const { group, kind, scope = "Namespaced", names: givenNames = {} } = options;
  checkGroup(group);
  if (scope !== "Namespaced" && scope !== "Cluster") {
    throw new TypeError(`'scope' must be "Namespaced" or "Cluster": current value is ${JSON.stringify(scope)}`);
  }
  checkKeys(givenNames, ["plural", "singular", "listKind", "shortNames", "categories"], "names");
  const names = namesOf(kind, givenNames);
  const { versions, hub, storage } = several ? manyVersions(options) : oneVersion(options);
  const definition: ResourceDefinition = Object.freeze({ api: 1, group, names, scope, versions, hub, storage });
  const scalable = versions.some((version) => version.scale !== undefined);
  const subresources = Object.freeze(scalable ? ["status", "scale"] : ["status"]);
  const handleOf = (version: string): Resource =>
    handle({ apiVersion: `${group}/${version}`, kind, scope, plural: names.plural, subresources });
  const others = versions.filter(({ name }) => name !== hub).map(({ name }) => [name, handleOf(name)] as const);
  return Object.freeze({
    ...handleOf(hub),
    ...(several && { versions: Object.freeze(Object.fromEntries(others)) }),
    [resourceBrand]: definition,
  });
}

type Versions = Pick<ResourceDefinition, "versions" | "hub" | "storage">;

function oneVersion(options: AnyResourceOptions): Versions {
  const version = options.version ?? "";
  checkVersion(version);
  if ((options as { readonly served?: boolean }).served === false)
    throw new TypeError("'served' must be true for the only version");
  return {
    versions: [versionDefinition(version, options as unknown as AnyVersionOptions, "")],
    hub: version,
    storage: version,
  };
}

function manyVersions({ versions: byName = {}, hub = "", storage = "" }: AnyResourceOptions): Versions {
  for (const [option, name] of [
    ["hub", hub],
    ["storage", storage],
  ] as const) {
    if (Object.hasOwn(byName, name)) continue;
    throw new TypeError(
      `'${option}' must be one of ${Object.keys(byName).join(", ")}: current value is ${JSON.stringify(name)}`,
    );
  }
  const versions = Object.entries(byName).map(([name, options]) => {
    checkVersion(name);
    checkKeys(options, [...versionKeys, "toHub", "fromHub", "loses"], `versions.${name}`);
    if (name === hub && options.loses !== undefined)
      throw new TypeError(`'versions.${name}.loses' must not stand on the hub, but on the version that loses fields`);
    for (const conversion of ["toHub", "fromHub"] as const) {
      const is = typeof options[conversion];
      if (name === hub ? is !== "undefined" : is !== "function") {
        const problem =
          name === hub ? "must not stand on the hub" : "must be a function, every version but the hub converts";
        throw new TypeError(`'versions.${name}.${conversion}' ${problem}`);
      }
    }
    return versionDefinition(name, options, `versions.${name}.`);
  });
  if (byName[hub]?.served === false) throw new TypeError("'hub' must be a version that is served");
  return { versions, hub, storage };
}
