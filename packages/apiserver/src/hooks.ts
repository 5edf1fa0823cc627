/** The interfaces between the parts of the API server: objects, rows of the kinds table, and what is plugged in per kind. */
import type { PluginName } from "./admission/plugin-names.ts";
import type { FieldError } from "./field-error.ts";
import type { Fields, KubeObject } from "./kube-object.ts";
import type { Schema } from "./schema/schema.ts";
import type { ServiceRanges } from "./validation/core/service-ranges.ts";

export type { Fields, KubeObject, ObjectMetadata, OwnerReferenceFields } from "./kube-object.ts";

export interface GroupVersionKind {
  /** The group; `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A subresource as discovery shows it. */
export interface Subresource {
  /** The name, such as `status`. */
  readonly name: string;
  /** The kind of the subresource's responses, when it differs from the resource's own. */
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
  /**
   * The version in which objects of this kind are stored; for built-in kinds, the version in the first row of the same
   * group and kind.
   */
  readonly storageVersion: string;
  readonly storageVersionHash: string;
  /** Whether the row comes from a CustomResourceDefinition. */
  readonly custom: boolean;
}

/** Reads other objects while one is checked; the objects are shared and must not be changed. */
export interface Reader {
  get(resource: ResourceName, key: { readonly namespace?: string; readonly name: string }): KubeObject | undefined;
  list(resource: ResourceName, namespace?: string): readonly KubeObject[];
}

/** Names a resource in any version. */
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

/** The attributes of a request, as an authorizer sees it. */
export interface Attributes {
  readonly user: UserInfo;
  /** The verb, such as `list`; for a path that names no resource it is the method in lower case. */
  readonly verb: string;
  /** Whether the path names a resource, and is not one such as `/healthz`. */
  readonly isResource: boolean;
  readonly path: string;
  /** The group; `""` for the core group. */
  readonly group: string;
  readonly resource: string;
  /** The subresource; `""` for the object itself. */
  readonly subresource: string;
  /** The namespace; `""` where the path has none. */
  readonly namespace: string;
  /** The name; `""` for the whole collection. */
  readonly name: string;
}

/** A rule of a role; an absent list is empty. */
export interface PolicyRule {
  readonly verbs?: readonly string[] | null;
  readonly apiGroups?: readonly string[] | null;
  // A subresource is written as in `pods/log`; `*/log` stands for that subresource of every resource.
  readonly resources?: readonly string[] | null;
  /** The names; empty for every name. */
  readonly resourceNames?: readonly string[] | null;
  readonly nonResourceURLs?: readonly string[] | null;
}

/** The reference to a role in a binding. */
export interface RoleReference {
  readonly kind: string;
  readonly name: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** The reason, if there is one: the binding that permits the request, or roles that are missing. */
  readonly reason: string;
}

/** The rules that apply to a user in a namespace. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  /** Roles that bindings name and that do not exist. */
  readonly missing: readonly RoleReference[];
}

export interface Authorizer {
  authorize(attributes: Attributes): Decision;
  /** Returns the user's rules. @param namespace `""` for those that apply to the whole cluster */
  rulesFor(user: UserInfo, namespace: string): UserRules;
  /** Returns the rules of a role; `undefined` when it does not exist. @param namespace the namespace of a `Role` */
  roleRules(role: RoleReference, namespace: string): readonly PolicyRule[] | undefined;
}

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** The context of the write that is under way. */
export interface WriteContext {
  readonly row: KindRow;
  readonly operation: Operation;
  /** The subresource; `""` for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The time as RFC 3339 in whole seconds. */
  readonly now: string;
  readonly reader: Reader;
  readonly authorizer: Authorizer;
  /** The addresses and ports that services get. */
  readonly ranges: ServiceRanges;
  /** Adds a `Warning` header. */
  warn(message: string): void;
}

/**
 * The behaviour of a kind beyond its schema; a member is absent where there is nothing to do.
 *
 * The order of a create is: schema defaults → `default` → mutating admission → `default` again if that changed the object →
 * `prepareForCreate` → schema validation and `validateCreate` → validating admission → storage. An update does the same with
 * the `…Update` members, `old` being the stored object. The server prepares `metadata` before all of these. On `status` it has
 * already copied the rest of `old` into `next`; on the object itself it has copied `old.status` into `next` where the kind has
 * a status subresource, and on create it has dropped `status`.
 */
export interface KindBehaviour {
  /** Adds defaults that the schema does not have. */
  readonly default?: (object: KubeObject, context: WriteContext) => void;
  readonly prepareForCreate?: (object: KubeObject, context: WriteContext) => void;
  readonly prepareForUpdate?: (next: KubeObject, old: KubeObject, context: WriteContext) => void;
  /** Validates a new object, including its metadata. */
  readonly validateCreate?: (object: KubeObject, context: WriteContext) => readonly FieldError[];
  /** Validates an update, including metadata; `context.subresource` tells through which path it comes. */
  readonly validateUpdate?: (next: KubeObject, old: KubeObject, context: WriteContext) => readonly FieldError[];
  /** Returns warnings about what is about to be stored, `old` being the object before. */
  readonly warnings?: (object: KubeObject, old: KubeObject | undefined, subresource: string) => readonly string[];
  /** The selectable fields besides `metadata.name` and `metadata.namespace`: each as the text that a selector compares. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
}

/** A request as admission sees it; mutating admission may replace the object. */
export interface AdmissionAttributes {
  readonly context: WriteContext;
  /** The new object; absent for DELETE. */
  object: KubeObject | undefined;
  /** The existing object; absent for CREATE. */
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions with apiVersion and kind. */
  readonly options: Fields;
  /** The version of the objects, when a rule matches a version other than the request's. */
  readonly matched?: KindRow;
  /** The schema of an object that may have empty lists and maps, without which policies and webhooks see it. */
  readonly schemaOfEmpty?: Schema | undefined;
}

/**
 * The steps of admission. Each throws a StatusError to reject the request, and returns `undefined` when no check is
 * necessary, which saves a promise.
 */
export interface Admission {
  /** The plugins that are enabled. */
  readonly plugins: ReadonlySet<PluginName>;
  mutate(attributes: AdmissionAttributes): Promise<void> | undefined;
  validate(attributes: AdmissionAttributes): Promise<void> | undefined;
}

/** Another version or group in which the objects of a kind are served. */
export interface Equivalent {
  readonly row: KindRow;
  /** Converts an object of the request's version to this one. */
  convert(object: KubeObject): KubeObject | Promise<KubeObject>;
  /**
   * Converts a changed object of this version to that of the request.
   *
   * @param before the original object, with the fields that this version cannot express
   */
  revert(object: KubeObject, before: KubeObject): KubeObject | Promise<KubeObject>;
}

export type Equivalents = (row: KindRow) => readonly Equivalent[];

/** The parts of the server that admission uses. */
export interface AdmissionOptions {
  /** The plugins that are enabled. */
  readonly plugins: ReadonlySet<PluginName>;
  /** Whether containers may be privileged. */
  readonly allowsPrivileged: boolean;
  readonly reader: Reader;
  /** Writes a status on behalf of the server. */
  readonly setStatus: (
    resource: ResourceName,
    change: { readonly object: KubeObject; readonly status: Fields },
  ) => void;
  /** Returns a served kind. */
  readonly kindOf: (kind: { readonly apiVersion: string; readonly kind: string }) => KindRow | undefined;
  readonly equivalents: Equivalents;
  /**
   * Merges fields over an object as server-side apply does.
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

/** Prints a kind as a `Table`. */
export interface Printer {
  readonly columns: readonly ColumnDefinition[];
  /** The order of the rows of a list. @default that of the list */
  readonly order?: (one: KubeObject, other: KubeObject) => number;
  /** Returns the cells of one object; `now` in milliseconds is for ages. */
  cells(object: KubeObject, now: number): unknown[];
}
