/** The resolved schema of a field, for built-in kinds and CustomResourceDefinitions alike. */
import type { GoRegExp } from "./go-regexp.ts";

/** `""` allows any type. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "";

/** Go types that decode themselves. */
export type OwnType =
  | "quantity"
  | "time"
  | "microTime"
  | "intOrString"
  | "raw"
  | "json"
  | "fieldsV1"
  | "schemaOrArray"
  | "schemaOrBool"
  | "schemaOrStrings";

export interface Schema {
  readonly type: SchemaType;
  readonly format: string | undefined;
  readonly nullable: boolean;
  readonly properties: ReadonlyMap<string, Schema> | undefined;
  /** The schema of a map's values. */
  readonly additional: Schema | undefined;
  readonly items: Schema | undefined;
  readonly required: readonly string[];
  readonly enum: readonly unknown[] | undefined;
  /** The default; `undefined` when there is none. */
  readonly default: unknown;
  readonly intOrString: boolean;
  readonly preserveUnknown: boolean;
  /** Whether it has an apiVersion, kind and metadata of its own. */
  readonly embedded: boolean;
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listKeys: readonly string[];
  readonly mapType: "atomic" | "granular" | undefined;
  readonly patchStrategies: readonly string[];
  readonly patchMergeKey: string | undefined;
  /** The Go type that decodes and encodes the value; built-in kinds have it. */
  readonly go: GoShape | undefined;
  /** The constraints of JSON Schema on values; CustomResourceDefinitions have them. */
  readonly values: ValueRules | undefined;
}

export interface GoShape {
  /** The name of the struct, such as `DeploymentSpec`; `undefined` for other types. */
  readonly struct: string | undefined;
  /** The type in error messages, such as `[]v1.Container`. */
  readonly type: string;
  readonly pointer: boolean;
  readonly omit: "empty" | "zero" | undefined;
  readonly own: OwnType | undefined;
}

/** The rules for values; a rule that does not exist is absent. */
export interface ValueRules {
  readonly pattern?: GoRegExp | undefined;
  readonly patternText?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly rules?: readonly CelRule[];
}

/**
 * A rule of `x-kubernetes-validations`. @see
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}
