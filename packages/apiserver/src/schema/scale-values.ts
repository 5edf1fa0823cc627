/** The fields from which the scale of a custom object is read. */
import { type FieldError, goJson, goNumber } from "../field-error.ts";
import { isFloat, isInteger, isNumber } from "../numbers.ts";

/** The paths in a definition, such as `.spec.replicas`. */
export interface ScaleFields {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector: string | undefined;
}

/**
 * Returns the errors of the scale's values, in the server's order and words; an update of the status checks only its
 * own field.
 */
export function validateScale(scale: ScaleFields, object: unknown, only: "status" | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const path of only === "status" ? [scale.statusReplicas] : [scale.specReplicas, scale.statusReplicas]) {
    const value = nested(object, path, isInteger, "int64");
    const count = (value.value ?? 0) as number | bigint;
    const detail =
      value.problem ??
      (count < 0
        ? "should be a non-negative integer"
        : count > 2 ** 31 - 1
          ? `should be less than or equal to ${2 ** 31 - 1}`
          : undefined);
    if (detail !== undefined) errors.push({ type: "Invalid", field: path, badValue: count, detail });
  }
  if (scale.labelSelector) {
    const selector = nested(object, scale.labelSelector, (value) => typeof value === "string", "string");
    if (selector.problem !== undefined)
      errors.push({ type: "Invalid", field: scale.labelSelector, badValue: "", detail: selector.problem });
  }
  return errors;
}

interface Found {
  readonly value?: unknown;
  readonly problem?: string;
}

function nested(object: unknown, path: string, fits: (value: unknown) => boolean, typeName: string): Found {
  const steps = path.replace(/^\./, "").split(".");
  let value = object;
  for (const [index, step] of steps.entries()) {
    if (value === null) return {};
    if (typeof value !== "object" || Array.isArray(value) || isFloat(value))
      return { problem: accessor(steps.slice(0, index + 1), value, "map[string]interface{}") };
    if (!Object.hasOwn(value, step)) return {};
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return fits(value) ? { value } : { problem: accessor(steps, value, typeName) };
}

function accessor(steps: readonly string[], value: unknown, typeName: string): string {
  const text = isNumber(value) ? goNumber(value) : typeof value === "object" ? goJson(value) : String(value);
  return `.${steps.join(".")} accessor error: ${text} is of the type ${goType(value)}, expected ${typeName}`;
}

function goType(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
    case "bigint":
      return isInteger(value) ? "int64" : "float64";
    default:
      return isFloat(value) ? "float64" : "map[string]interface {}";
  }
}
