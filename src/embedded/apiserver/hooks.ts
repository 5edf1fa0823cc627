/** Where the parts of the API server meet: objects, rows of the kinds table, and what is plugged in per kind. */
import type { FieldError } from "./field-error.ts";

/** A JSON object that the request owns: it may be changed in place. */
export type Fields = Record<string, unknown>;

export interface ObjectMetadata extends Fields {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReferenceFields[];
  managedFields?: Fields[];
}

export interface OwnerReferenceFields extends Fields {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface KubeObject extends Fields {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetadata;
}

export interface GroupVersionKind {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** As discovery shows it. */
export interface Subresource {
  /** Such as `status`. */
  readonly name: string;
  /** The kind that its path takes, where it is another than the resource's own. */
  readonly responseKind: GroupVersionKind;
  readonly verbs: readonly string[];
}

/** One served version of a kind: a row of the generated table, or of a CustomResourceDefinition. */
export interface KindRow extends GroupVersionKind {
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  /** The version that objects of this kind are kept in: for built-in kinds that of the first row of the same group and kind. */
  readonly storageVersion: string;
  readonly storageVersionHash: string;
  /** Set for rows that come from a CustomResourceDefinition. */
  readonly custom: boolean;
}

/** Reading other objects while one is checked; the objects are shared and must not be changed. */
export interface Reader {
  get(resource: ResourceName, key: { readonly namespace?: string; readonly name: string }): KubeObject | undefined;
  list(resource: ResourceName, namespace?: string): readonly KubeObject[];
}

/** Names a resource whatever its version. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What somebody asks for, as an authorizer sees it. */
export interface Attributes {
  readonly user: UserInfo;
  /** Such as `list`; of a path that names no resource the method in lower case. */
  readonly verb: string;
  /** It asks for a resource, and not for a bare path such as `/healthz`. */
  readonly isResource: boolean;
  readonly path: string;
  /** `""` for the core group. */
  readonly group: string;
  readonly resource: string;
  /** `""` for the object itself. */
  readonly subresource: string;
  /** `""` where the path has none. */
  readonly namespace: string;
  /** `""` for the whole collection. */
  readonly name: string;
}

/** One rule, as it stands in a role; lists that are absent are empty. */
export interface PolicyRule {
  readonly verbs?: readonly string[] | null;
  readonly apiGroups?: readonly string[] | null;
  // With subresources as in `pods/log`; `*/log` is that of every resource.
  readonly resources?: readonly string[] | null;
  /** Empty for every name. */
  readonly resourceNames?: readonly string[] | null;
  readonly nonResourceURLs?: readonly string[] | null;
}

/** A role as a binding names it. */
export interface RoleReference {
  readonly kind: string;
  readonly name: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** Why, where there is something to tell: a binding that permits it, or roles that are missing. */
  readonly reason: string;
}

/** The rules that concern a user in a namespace. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  /** Roles that bindings name and that are not there. */
  readonly missing: readonly RoleReference[];
}

export interface Authorizer {
  authorize(asked: Attributes): Decision;
  /** @param namespace `""` for what holds in the whole cluster alone */
  rulesFor(user: UserInfo, namespace: string): UserRules;
  /** The rules of a role; `undefined` when there is none of the name. @param namespace of a `Role` */
  roleRules(role: RoleReference, namespace: string): readonly PolicyRule[] | undefined;
}

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** What is known about the write that is under way. */
export interface WriteContext {
  readonly row: KindRow;
  readonly operation: Operation;
  /** `""` for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** RFC 3339 in whole seconds. */
  readonly now: string;
  readonly reader: Reader;
  readonly authorizer: Authorizer;
  /** Adds a `Warning` header. */
  warn(message: string): void;
}

/**
 * What a kind does beyond its schema; each member is left out where there is nothing to do.
 *
 * Order on create: schema defaults → `default` → mutating admission → `default` again when changed → `prepareForCreate`
 * → schema validation and `validateCreate` → validating admission → stored. On update the same with `…Update`, `old` being
 * the stored object. `metadata` is prepared by the server itself, before these. On `status` the server has already put the
 * rest of `old` into `next`; on the object itself it has already put `old.status` into `next` where the kind has a status
 * subresource, and on create it has dropped `status`.
 */
export interface KindBehaviour {
  /** Defaults that the schema does not carry. */
  readonly default?: (object: KubeObject, context: WriteContext) => void;
  readonly prepareForCreate?: (object: KubeObject, context: WriteContext) => void;
  readonly prepareForUpdate?: (next: KubeObject, old: KubeObject, context: WriteContext) => void;
  /** Metadata included. */
  readonly validateCreate?: (object: KubeObject, context: WriteContext) => readonly FieldError[];
  /** Metadata included; `context.subresource` says through which path. */
  readonly validateUpdate?: (next: KubeObject, old: KubeObject, context: WriteContext) => readonly FieldError[];
  /** Of what is about to be stored, `old` being what is changed: what is allowed and questionable. */
  readonly warnings?: (object: KubeObject, old: KubeObject | undefined, subresource: string) => readonly string[];
  /** Selectable fields besides `metadata.name` and `metadata.namespace`: each as the text a selector compares with. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
}

/** One request as admission sees it; the object may be replaced by mutating admission. */
export interface AdmissionAttributes {
  readonly context: WriteContext;
  /** Absent on DELETE. */
  object: KubeObject | undefined;
  /** Absent on CREATE. */
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions with apiVersion and kind. */
  readonly options: Fields;
  /** The version that the objects are in, where a rule means another than the request's. */
  readonly matched?: KindRow;
}

/** Each throws a StatusError to refuse; `undefined` when nobody is to be asked, so that no promise is made then. */
export interface Admission {
  mutate(attributes: AdmissionAttributes): Promise<void> | undefined;
  validate(attributes: AdmissionAttributes): Promise<void> | undefined;
}

/** Another version, or group, in which the objects of a kind are served. */
export interface Equivalent {
  readonly row: KindRow;
  /** An object of the request's version in this one. */
  convert(object: KubeObject): KubeObject | Promise<KubeObject>;
  /**
   * An object of this version, completed, in that of the request.
   *
   * @param before what it was made from: keeps what this version does not tell
   */
  revert(object: KubeObject, before: KubeObject): KubeObject | Promise<KubeObject>;
}

export type Equivalents = (row: KindRow) => readonly Equivalent[];

/** What admission stands on. */
export interface AdmissionOptions {
  readonly reader: Reader;
  /** Writes a status of the server's own. */
  readonly setStatus: (
    resource: ResourceName,
    change: { readonly object: KubeObject; readonly status: Fields },
  ) => void;
  /** A kind that is served. */
  readonly kindOf: (kind: { readonly apiVersion: string; readonly kind: string }) => KindRow | undefined;
  readonly equivalents: Equivalents;
  /**
   * An object with fields laid over it, as server-side apply lays them.
   *
   * @throws Error in the server's words when they do not fit
   */
  readonly merge: (row: KindRow, object: KubeObject, over: KubeObject) => KubeObject;
}

/** A column of a `Table`. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** How a kind is shown as a `Table`. */
export interface Printer {
  readonly columns: readonly ColumnDefinition[];
  /** The order of a list's rows. @default that of the list */
  readonly order?: (one: KubeObject, other: KubeObject) => number;
  /** The cells of one object; `now` in milliseconds, for ages. */
  cells(object: KubeObject, now: number): unknown[];
}
