/** The checked definition of a module's kind. */
import { CONTRACT_VERSION, versionSkew } from "./contract-version.ts";
import type { ResourceNames } from "./names.ts";
import type { Scope } from "./handle.ts";
import type { StructuralSchema } from "./schema/structural.ts";

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** The JSON path, such as `.status.readyReplicas`. */
  readonly path: string;
  readonly format?: "int32" | "int64" | "float" | "double" | "byte" | "date" | "date-time" | "password" | undefined;
  readonly description?: string | undefined;
  /** A column with a priority above 0 appears only in `kubectl get -o wide`. @default 0 */
  readonly priority?: number | undefined;
}

/** The scale subresource, for `kubectl scale` and autoscalers. */
export interface Scale {
  /** The path of the desired number, such as `.spec.replicas`. */
  readonly specReplicas: string;
  /** The path of the present number, such as `.status.replicas`. */
  readonly statusReplicas: string;
  /** The path of the pods' label selector in text form, such as `.status.selector`. */
  readonly selector?: string | undefined;
}

/** Converts objects from one version to another. */
export type Conversion = (object: unknown) => unknown;

/** One version of a kind. */
export interface VersionDefinition {
  readonly name: string;
  /** The schema of the whole object. */
  readonly schema: StructuralSchema;
  readonly served: boolean;
  /** The warning for users of the version; `true` uses the server's own words. */
  readonly deprecated: string | boolean;
  readonly columns: readonly Column[];
  readonly scale?: Scale | undefined;
  readonly selectableFields: readonly string[];
  /** Every version has conversions except the hub, if there are several versions. */
  readonly toHub?: Conversion | undefined;
  readonly fromHub?: Conversion | undefined;
  /** Paths of fields that may be lost in a conversion to this version and back. */
  readonly loses: readonly string[];
}

/** The definition of a handle that `defineResource` returned. */
export interface ResourceDefinition {
  /** The version of the contract between modules and the binary. */
  readonly api: 1;
  readonly group: string;
  readonly names: ResourceNames;
  readonly scope: Scope;
  readonly versions: readonly VersionDefinition[];
  /** The version that controllers use; all others are converted to and from it. */
  readonly hub: string;
  /** The version that the API server stores. */
  readonly storage: string;
}

/** All copies of the SDK share this symbol, so a definition is recognized across module graphs. */
export const resourceBrand: unique symbol = Symbol.for("binnacle.resource") as never;

/**
 * Returns the definition of a handle that `defineResource` returned; `undefined` for every other value.
 *
 * @throws TypeError when the handle was made for another version of the contract.
 */
export function definitionOf(resource: unknown): ResourceDefinition | undefined {
  if (typeof resource !== "object" || resource === null) return undefined;
  const definition = (resource as { readonly [resourceBrand]?: ResourceDefinition })[resourceBrand];
  if (definition !== undefined && definition.api !== CONTRACT_VERSION) {
    throw new TypeError(versionSkew("a resource", (definition as { readonly api: unknown }).api));
  }
  return definition;
}
