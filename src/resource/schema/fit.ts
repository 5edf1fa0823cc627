/** Says whether a value fits a structural schema, for schemas that are not zod's. */
import type { StructuralSchema } from "./structural.ts";
import { ownField } from "../any-key.ts";

/**
 * Returns the problem of a value, such as `containers[0].name is required`; `undefined` when it fits. Formats are left
 * to the API server.
 */
export function problemOf(schema: StructuralSchema, value: unknown, path = ""): string | undefined {
  const name = path === "" ? "it" : path;
  if (value === null) return schema.nullable ? undefined : `${name} must not be null`;
  if (schema["x-kubernetes-int-or-string"]) {
    if (Number.isInteger(value)) return undefined;
    if (typeof value !== "string") return `${name} must be an integer or text`;
    const { pattern } = schema;
    return pattern === undefined || new RegExp(pattern).test(value) ? undefined : `${name} must match ${pattern}`;
  }
  const { type } = schema;
  if (type !== undefined && !hasType(type, value))
    return `${name} must be ${type === "array" ? "a list" : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`}`;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const problem = schema.items && problemOf(schema.items, item, `${path}[${index}]`);
      if (problem !== undefined) return problem;
    }
  } else if (typeof value === "object") {
    const fields = value as Readonly<Record<string, unknown>>;
    const prefix = path === "" ? "" : `${path}.`;
    const missing = schema.required?.find((field) => ownField(fields, field) === undefined);
    if (missing !== undefined) return `${prefix}${missing} is required`;
    for (const [field, inner] of Object.entries(fields)) {
      const own = Object.hasOwn(schema.properties ?? {}, field)
        ? schema.properties?.[field]
        : schema.additionalProperties;
      if (own === undefined || inner === undefined) continue;
      const problem = problemOf(own, inner, `${prefix}${field}`);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function hasType(type: NonNullable<StructuralSchema["type"]>, value: unknown): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
