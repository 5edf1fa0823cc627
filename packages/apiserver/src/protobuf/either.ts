/** Types that are a union in JSON and have one field per alternative in their protobuf message. */
import type { Fields } from "../hooks.ts";

interface Either {
  fromFields(fields: Fields): unknown;
  toFields(value: unknown): Fields;
}

const definitions = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1";

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const eithers: ReadonlyMap<string, Either> = new Map<string, Either>([
  [
    `${definitions}.JSONSchemaPropsOrBool`,
    {
      fromFields: ({ schema, allows = false }) => schema ?? allows,
      toFields: (value) => (isFields(value) ? { allows: true, schema: value } : { allows: value === true }),
    },
  ],
  [
    `${definitions}.JSONSchemaPropsOrArray`,
    {
      fromFields: ({ schema, jSONSchemas = [] }) => schema ?? jSONSchemas,
      toFields: (value) => (Array.isArray(value) ? { jSONSchemas: value } : { schema: value }),
    },
  ],
  [
    `${definitions}.JSONSchemaPropsOrStringArray`,
    {
      fromFields: ({ schema, property = [] }) => schema ?? property,
      toFields: (value) => (Array.isArray(value) ? { property: value } : { schema: value }),
    },
  ],
]);
