/** What a module says about a kind of its own, after it was checked. */
import type { ResourceNames } from "./names.ts";
import type { Scope } from "./handle.ts";
import type { StructuralSchema } from "./schema/structural.ts";

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** A JSON path, such as `.status.readyReplicas`. */
  readonly path: string;
  readonly format?: "int32" | "int64" | "float" | "double" | "byte" | "date" | "date-time" | "password" | undefined;
  readonly description?: string | undefined;
  /** Above 0: only in `kubectl get -o wide`. @default 0 */
  readonly priority?: number | undefined;
}

/** The scale subresource: `kubectl scale` and autoscalers. */
export interface Scale {
  /** Where the wanted number stands, such as `.spec.replicas`. */
  readonly specReplicas: string;
  /** Where the present number stands, such as `.status.replicas`. */
  readonly statusReplicas: string;
  /** Where the label selector of the pods stands, as text, such as `.status.selector`. */
  readonly selector?: string | undefined;
}

/** A conversion between the objects of two versions. */
export type Conversion = (object: unknown) => unknown;

/** One version of a kind. */
export interface VersionDefinition {
  readonly name: string;
  /** The schema of the whole object. */
  readonly schema: StructuralSchema;
  readonly served: boolean;
  /** The warning that users of the version get, `true` for the server's own words. */
  readonly deprecated: string | boolean;
  readonly columns: readonly Column[];
  readonly scale?: Scale | undefined;
  readonly selectableFields: readonly string[];
  /** Present on every version but the hub, when there is more than one. */
  readonly toHub?: Conversion | undefined;
  readonly fromHub?: Conversion | undefined;
  /** Paths of fields whose loss in a conversion to this version and back is intended. */
  readonly loses: readonly string[];
}

/** The definition behind a handle of `defineResource`. */
export interface ResourceDefinition {
  /** The version of the contract between modules and the binary. */
  readonly api: 1;
  readonly group: string;
  readonly names: ResourceNames;
  readonly scope: Scope;
  readonly versions: readonly VersionDefinition[];
  /** The version that controllers see and that others are converted to and from. */
  readonly hub: string;
  /** The version that the API server stores. */
  readonly storage: string;
}

/** Shared by every copy of the SDK, so that a definition is known across module graphs. */
export const resourceBrand: unique symbol = Symbol.for("binnacle.resource") as never;

/**
 * The definition behind a handle of `defineResource`, `undefined` for every other value.
 *
 * @throws TypeError when the handle was made for another version of the contract.
 */
export function definitionOf(resource: unknown): ResourceDefinition | undefined {
  if (typeof resource !== "object" || resource === null) return undefined;
  const definition = (resource as { readonly [resourceBrand]?: ResourceDefinition })[resourceBrand];
  if (definition !== undefined && (definition.api as number) !== 1) {
    throw new TypeError(
      `Cannot use a resource of contract version ${String(definition.api)}: this binnacle has 1; import its SDK from 'binnacle'`,
    );
  }
  return definition;
}
