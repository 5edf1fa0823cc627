/** `foreignResource` makes a typed handle for a kind from elsewhere. */
import type { z } from "zod";
import { handle, type Resource, type Scope, type UntypedStatus } from "./handle.ts";
import { isDnsSubdomain } from "./label-name.ts";
import type { DeepReadonly, MetaInput, ReadMeta } from "./meta.ts";
import { checkVersion } from "./names.ts";
import { checkKeys } from "./version.ts";
import { ownField } from "./any-key.ts";

/** The names and the scope of a foreign kind. */
export interface ForeignOptions<
  G extends string,
  V extends string,
  K extends string,
  Sc extends Scope,
  Schema extends z.ZodType,
> {
  /** The API group, such as `cert-manager.io`. */
  readonly group: G;
  /** The version, such as `v1`. */
  readonly version: V;
  /** The kind, such as `Certificate`. */
  readonly kind: K;
  /** @default "Namespaced" */
  readonly scope?: Sc;
  /**
   * The name in paths. Discovery finds it; only `manifests rbac` uses this one, because it works without a cluster.
   * @default the English plural of the kind
   */
  readonly plural?: string;
  /**
   * The schema of everything except the metadata, for the types. @default none: the type parameter decides, or the
   * objects are untyped
   */
  readonly schema?: Schema;
}

/** Everything except `apiVersion`, `kind` and `metadata`. */
type Content<T> = Omit<T, "apiVersion" | "kind" | "metadata">;

/** The status that a controller may set: the one of the type, or any if the type has none. */
type StatusIn<T> = T extends { readonly status?: infer S }
  ? unknown extends S
    ? UntypedStatus
    : DeepReadonly<NonNullable<S>>
  : unknown;

/** The shape of a foreign kind. */
export interface ForeignShape<A extends string, K extends string, Sc extends Scope, Read, Write> {
  readonly apiVersion: A;
  readonly kind: K;
  readonly scope: Sc;
  readonly read: { readonly apiVersion: A; readonly kind: K; readonly metadata: ReadMeta<Sc> } & DeepReadonly<
    Content<Read>
  >;
  readonly write: { readonly metadata: MetaInput } & DeepReadonly<Omit<Content<Write>, "status">>;
  readonly status: StatusIn<Write>;
}

declare const directions: unique symbol;

/**
 * Types of a kind that differ by direction, as the type parameter of {@link foreignResource}: one for objects that the
 * server returns, with defaults, and one for writing. `binnacle types` generates them.
 */
export interface ForeignTypes<Read extends object, Write extends object> {
  readonly [directions]: readonly [read: Read, write: Write];
}

/** The type parameter's type for reading; `Otherwise` if there is none. */
type ReadOf<T, Otherwise = never> = [T] extends [never]
  ? Otherwise
  : T extends ForeignTypes<infer Read, infer _>
    ? Read
    : T;
/** The type parameter's type for writing; `Otherwise` if there is none. */
type WriteOf<T, Otherwise> = [T] extends [never] ? Otherwise : T extends ForeignTypes<infer _, infer Write> ? Write : T;
type ApiVersionOf<T, G extends string, V extends string> = [T] extends [never]
  ? G extends ""
    ? V
    : `${G}/${V}`
  : ReadOf<T> extends { readonly apiVersion: infer A extends string }
    ? A
    : string;
type KindOf<T> = [T] extends [never]
  ? string
  : ReadOf<T> extends { readonly kind: infer K extends string }
    ? K
    : string;

/** The schema of a handle from {@link foreignResource}; all copies of the SDK share this symbol. */
const foreignSchema: unique symbol = Symbol.for("binnacle.foreign") as never;

/**
 * A typed handle for a foreign kind, such as another operator's. Its CustomResourceDefinition belongs to the others: it
 * is never installed or printed.
 *
 * The types follow from a zod schema of everything except the metadata, or from a type parameter; with neither the
 * objects are untyped. The schema is not sent to anybody: the server checks objects by its own.
 *
 * @throws TypeError `Cannot define foreign resource <kind>: …`
 * @example
 * const Certificate = foreignResource({
 *   group: "cert-manager.io", version: "v1", kind: "Certificate",
 *   schema: z.object({
 *     spec: z.object({ secretName: z.string(), dnsNames: z.array(z.string()).optional() }),
 *     status: z.object({ notAfter: z.string().optional(), conditions: conditions("Ready") }).optional(),
 *   }),
 * });
 * const Issuer = foreignResource<IssuerType>({ group: "cert-manager.io", version: "v1", kind: "Issuer" });
 * const ClusterIssuer = foreignResource<IssuerType, "Cluster">({ …, kind: "ClusterIssuer", scope: "Cluster" });
 */
export function foreignResource<
  T extends object = never,
  const Sc extends Scope = "Namespaced",
  const G extends string = string,
  const V extends string = string,
  const K extends string = KindOf<T>,
  Schema extends z.ZodType<object> = z.ZodType<Untyped, Untyped>,
>(
  options: ForeignOptions<G, V, K, Sc, Schema>,
): Resource<ForeignShape<ApiVersionOf<T, G, V>, K, Sc, ReadOf<T, z.output<Schema>>, WriteOf<T, z.input<Schema>>>> {
  try {
    return checkedHandle(options) as never;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const { kind } = Object(options) as { readonly kind?: unknown };
    const what = typeof kind === "string" ? kind : "of no kind";
    throw new TypeError(`Cannot define foreign resource ${what}: ${error.message}`, { cause: error });
  }
}

/** Objects of which only the metadata is known. */
interface Untyped {
  readonly [field: string]: unknown;
}

type AnyForeignOptions = ForeignOptions<string, string, string, Scope, z.ZodType>;

const KEYS = ["group", "version", "kind", "scope", "plural", "schema"];

function checkedHandle(options: AnyForeignOptions): Resource {
  if (typeof options !== "object" || options === null) throw new TypeError("it needs { group, version, kind }");
  checkKeys(options, KEYS);
  const { group, version, kind, scope = "Namespaced", plural, schema } = options;
  for (const [option, value] of Object.entries({ group, version, kind })) {
    if (typeof value !== "string") throw new TypeError(`'${option}' must be text`);
  }
  if (group !== "" && !isDnsSubdomain(group)) throw wrong("group", group, 'must be such as "cert-manager.io"');
  checkVersion(version);
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind)) throw wrong("kind", kind, 'must be such as "Certificate"');
  if (scope !== "Namespaced" && scope !== "Cluster") throw wrong("scope", scope, 'must be "Namespaced" or "Cluster"');
  if (plural !== undefined && !/^[a-z][-a-z0-9]*$/.test(plural)) {
    throw wrong("plural", plural, 'must be such as "certificates"');
  }
  if (schema !== undefined && !("_zod" in Object(schema) && innermost(schema)._zod.def.type === "object")) {
    throw new TypeError("'schema' must be z.object({ spec: …, status: … }), what stands beside the metadata");
  }
  const plain = handle({ apiVersion: group === "" ? version : `${group}/${version}`, kind, scope, plural });
  return Object.freeze({ ...plain, [foreignSchema]: schema });
}

function wrong(option: string, value: string, advice: string): TypeError {
  return new TypeError(`'${option}' ${advice}: current value is ${JSON.stringify(value)}`);
}

/** Whether the handle comes from {@link foreignResource}; the server knows more about such a kind than the handle. */
export function isForeign(resource: Resource): boolean {
  return foreignSchema in resource;
}

/** Returns the schema of a foreign kind; `undefined` when its handle has none. */
export function schemaOfForeign(resource: Resource): z.core.$ZodType | undefined {
  return (resource as { readonly [foreignSchema]?: z.core.$ZodType })[foreignSchema];
}

interface AnyDefinition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
}

/** Returns the schema inside of wrappers that make it optional, give it a default, and the like. */
function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType } = schema._zod.def as AnyDefinition;
  return innerType === undefined ? schema : innermost(innerType);
}

/** Whether the schema has a field at the path; `[]` stands for the items of a list. */
export function hasField(schema: z.core.$ZodType | undefined, path: readonly string[]): boolean {
  if (schema === undefined) return false;
  const [name, ...rest] = path;
  if (name === undefined) return true;
  const { shape, element } = innermost(schema)._zod.def as AnyDefinition;
  return hasField(name === "[]" ? element : ownField(shape ?? {}, name), rest);
}
