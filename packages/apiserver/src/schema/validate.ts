/** Validates an object against the schema of its custom resource. */
import type { FieldError } from "../field-error.ts";
import { hasRules, validateRules } from "../cel/rules.ts";
import { validateLists } from "./list-validation.ts";
import { type ScaleFields, validateScale } from "./scale-values.ts";
import type { Schema } from "./schema.ts";
import { validateValues } from "./value-validation.ts";
import { validateEmbedded } from "../validation/embedded-objects.ts";

export interface ValidateOptions {
  /** The object before the update: unchanged parts are not validated again, and rules may refer to it. */
  readonly old?: unknown;
  /** Validates only this field, as for an update through the status subresource. */
  readonly only?: "status" | undefined;
  /** The paths of the object's scale, if it has one. */
  readonly scale?: ScaleFields | undefined;
  /** Called with rules that unchanged parts break. */
  readonly warn?: ((problem: string) => void) | undefined;
}

const blocking: ReadonlySet<string> = new Set(["NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"]);

/** Returns the errors of types, values, lists and rules, in the server's order and words. Built-in kinds have none. */
export function validate(
  schema: Schema,
  object: unknown,
  { old, only, scale, warn }: ValidateOptions = {},
): FieldError[] {
  if (schema.go) return [];
  const errors =
    only === undefined ? validateValues(schema, object, { old }) : validatePart(schema, object, { old, only });
  if (scale !== undefined) errors.push(...validateScale(scale, object, only));
  errors.push(...validateEmbedded(schema, object));
  if (old === undefined || validateLists(schema, old).length === 0) errors.push(...validateLists(schema, object));
  if (errors.some(({ type }) => blocking.has(type))) {
    if (!hasRules(schema)) return errors;
    const detail =
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    return [...errors, { type: "Invalid", field: "<nil>", badValue: null, detail }];
  }
  errors.push(...validateRules(schema, object, { old, warn }));
  return errors;
}

/** Validates one field of the object; an absent one has no errors. */
function validatePart(
  schema: Schema,
  object: unknown,
  { old, only }: { readonly old: unknown; readonly only: string },
): FieldError[] {
  const value = fieldOf(object, only);
  if (value === undefined) return [];
  return validateValues(schema.properties?.get(only) ?? schema, value, { old: fieldOf(old, only), within: only });
}

function fieldOf(object: unknown, name: string): unknown {
  return (object as Readonly<Record<string, unknown>> | undefined)?.[name];
}
