/** The part of JSON Schema that custom resources may use. */
import type { z } from "zod";

/**
 * A CEL rule.
 *
 * @see
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
export interface ValidationRule {
  /** A CEL expression that is true for valid objects; `self` is the value that has the rule. */
  readonly rule: string;
  /** The message for the user when the rule fails. @default `failed rule: …` */
  readonly message?: string | undefined;
  /** A CEL expression that computes the message. */
  readonly messageExpression?: string | undefined;
  readonly reason?:
    "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate" | undefined;
  /** The field that the error names, relative to `self`, such as `.spec.replicas`. */
  readonly fieldPath?: string | undefined;
  /** Whether a rule with `oldSelf` runs on creation too; then `oldSelf` is an optional value. */
  readonly optionalOldSelf?: boolean | undefined;
}

/**
 * @see
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export interface StructuralSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean" | undefined;
  readonly description?: string | undefined;
  readonly title?: string | undefined;
  readonly format?: string | undefined;
  readonly default?: unknown;
  readonly nullable?: boolean | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly pattern?: string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minimum?: number | undefined;
  readonly exclusiveMinimum?: boolean | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMaximum?: boolean | undefined;
  readonly multipleOf?: number | undefined;
  readonly items?: StructuralSchema | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly properties?: Readonly<Record<string, StructuralSchema>> | undefined;
  readonly additionalProperties?: StructuralSchema | undefined;
  readonly required?: readonly string[] | undefined;
  readonly allOf?: readonly StructuralSchema[] | undefined;
  readonly anyOf?: readonly StructuralSchema[] | undefined;
  readonly oneOf?: readonly StructuralSchema[] | undefined;
  readonly not?: StructuralSchema | undefined;
  readonly "x-kubernetes-int-or-string"?: true | undefined;
  readonly "x-kubernetes-preserve-unknown-fields"?: true | undefined;
  readonly "x-kubernetes-embedded-resource"?: true | undefined;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map" | undefined;
  readonly "x-kubernetes-list-map-keys"?: readonly string[] | undefined;
  readonly "x-kubernetes-map-type"?: "atomic" | "granular" | undefined;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[] | undefined;
}

/** A field of an object: its schema, and whether an author may leave it out. */
export interface Field {
  readonly schema: StructuralSchema;
  readonly optional: boolean;
}

/** OpenAPI's format of texts that must not be displayed; `.meta({ sensitive: true })` sets it. */
export const SENSITIVE = "password";

/** Explains why a zod schema has no structural schema; `defineResource` adds the resource. */
export class SchemaProblem extends Error {
  override readonly name = "SchemaProblem";

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
  }
}

/** The symbol is in the definition, which copies of a schema share: `.describe()` and `.meta()` make copies. */
const mark: unique symbol = Symbol("structural schema");

interface MarkedDefinition {
  [mark]?: () => StructuralSchema;
}

/** Sets the API server's schema for a zod schema. @param make called whenever the schema is converted */
export function structural<S extends z.core.$ZodType>(schema: S, make: () => StructuralSchema): S {
  (schema._zod.def as MarkedDefinition)[mark] = make;
  return schema;
}

/**
 * Returns the structural schema that {@link structural} gave; `undefined` for a schema that is read from zod's
 * definition.
 */
export function structuralOf(schema: z.core.$ZodType): StructuralSchema | undefined {
  return (schema._zod.def as MarkedDefinition)[mark]?.();
}
