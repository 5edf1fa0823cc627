/** The one resolved form of what is known about a field: of built-in kinds and of CustomResourceDefinitions. */
import type { GoRegExp } from "./go-regexp.ts";

/** `""` takes anything. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "";

/** Types of Go that decode themselves. */
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
  /** What the values of a map are. */
  readonly additional: Schema | undefined;
  readonly items: Schema | undefined;
  readonly required: readonly string[];
  readonly enum: readonly unknown[] | undefined;
  /** `undefined` when there is none. */
  readonly default: unknown;
  readonly intOrString: boolean;
  readonly preserveUnknown: boolean;
  /** It has apiVersion, kind and metadata of its own. */
  readonly embedded: boolean;
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listKeys: readonly string[];
  readonly mapType: "atomic" | "granular" | undefined;
  readonly patchStrategies: readonly string[];
  readonly patchMergeKey: string | undefined;
  /** How Go decodes and encodes it; of built-in kinds only. */
  readonly go: GoShape | undefined;
  /** What JSON schema says of values; of CustomResourceDefinitions only. */
  readonly values: ValueRules | undefined;
}

export interface GoShape {
  /** Of the struct, such as `DeploymentSpec`; `undefined` for what is no struct. */
  readonly struct: string | undefined;
  /** As errors name it, such as `[]v1.Container`. */
  readonly type: string;
  readonly pointer: boolean;
  readonly omit: "empty" | "zero" | undefined;
  /** Names of embedded structs that lead to the field. */
  readonly within: readonly string[];
  readonly own: OwnType | undefined;
}

/** Left out where there is none. */
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

/** One of `x-kubernetes-validations`. @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}
