/** Makes sample values for missing fields of an object. */
import type { StructuralSchema } from "./structural.ts";

/**
 * The distances of numbers from the plainest one: a large step finds thresholds, and small steps find numbers with a
 * meaning.
 */
const STEPS = [0, 1_000, 1, 2, 3];
const TEXTS = ["", "sample", "1", "true", "x"];

/** The number of different samples of a value with few limits. */
export const SAMPLES: number = STEPS.length;

/** Two values of each format that authors commonly parse; values of other formats are arbitrary texts. */
const FORMATS: Readonly<Record<string, readonly [string, string]>> = {
  "date-time": ["1970-01-01T00:00:00Z", "2001-02-03T04:05:06Z"],
  date: ["1970-01-01", "2001-02-03"],
  duration: ["0s", "90s"],
  uri: ["https://a.example/", "https://b.example/path"],
  ipv4: ["0.0.0.0", "192.0.2.1"],
  ipv6: ["::", "2001:db8::1"],
  cidr: ["0.0.0.0/0", "192.0.2.0/24"],
  uuid: ["00000000-0000-4000-8000-000000000000", "11111111-1111-4111-8111-111111111111"],
};

/**
 * Returns a value that the schema allows, apart from its patterns and rules.
 *
 * @param variant the number of the value: 0 for the plainest one, another number for another value, if there are
 * several.
 */
export function sampleOf(schema: StructuralSchema, variant: number): unknown {
  const values = schema.enum ?? schema.allOf?.find((one) => one.enum !== undefined)?.enum;
  if (values !== undefined) return values[variant % values.length];
  switch (schema.type) {
    case "string":
      return textOf(schema, variant);
    case "integer":
    case "number":
      return numberOf(schema, variant);
    case "boolean":
      return variant % 2 === 1;
    case "array":
      return variant > 0 || (schema.minItems ?? 0) > 0 ? [sampleOf(schema.items ?? {}, variant)] : [];
    default:
      if (schema["x-kubernetes-int-or-string"]) return STEPS[variant];
      return variant > 0 && schema.additionalProperties
        ? { sample: sampleOf(schema.additionalProperties, variant) }
        : {};
  }
}

function textOf({ format = "", minLength = 0, maxLength = Infinity }: StructuralSchema, variant: number): string {
  return FORMATS[format]?.[variant % 2] ?? TEXTS[variant]!.padEnd(minLength, "a").slice(0, maxLength);
}

function numberOf(schema: StructuralSchema, variant: number): number {
  const { minimum = -Infinity, maximum = Infinity, multipleOf = 1 } = schema;
  const least = Math.ceil(minimum / multipleOf + (schema.exclusiveMinimum ? 0.5 : 0));
  const most = Math.floor(maximum / multipleOf - (schema.exclusiveMaximum ? 0.5 : 0));
  const plain = Math.min(Math.max(0, least), most);
  const step = STEPS[variant]!;
  const number = plain + step <= most ? plain + step : Math.max(least, plain - step);
  return Math.min(number, most) * multipleOf;
}
