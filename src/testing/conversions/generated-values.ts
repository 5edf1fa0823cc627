/** Values by chance that a structural schema allows, or nearly: rules and rare combinations are left to validation. */
import * as fc from "fast-check";
import type { StructuralSchema } from "../../resource/schema/structural.ts";

/** Lists and maps stay small: what a conversion does to three elements it does to more. */
const MOST_ELEMENTS = 3;
/** Texts longer than that show nothing new. */
const MOST_CHARACTERS = 12;
/** An optional field is there in every second object. */
const MOST_COMMON = 2;
/**
 * An optional field with more values than that is there less often, because an object with half of what a template of
 * pods can hold has thousands of values, and conversions of hundreds of them take most of a minute.
 */
const AMPLE = 2;
/** The rarest field is in one of so many objects, which is some of a few hundred. */
const RAREST = 16;

export function valuesOf(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const values = orAlternatives(schema);
  return schema.nullable === true ? fc.oneof({ weight: 5, arbitrary: values }, fc.constant(null)) : values;
}

/** An enum of a nullable field, and further patterns of a text, stand in `allOf`; variants of a union in `oneOf`. */
function orAlternatives(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const [variant] = schema.oneOf ?? [];
  if (variant !== undefined && schema.properties !== undefined) {
    return fc.oneof(...schema.oneOf!.map((one) => objects(variantOf(schema, one))));
  }
  return ofType((schema.allOf ?? []).reduce<StructuralSchema>((all, one) => ({ ...one, ...all }), schema));
}

function ofType(schema: StructuralSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema["x-kubernetes-int-or-string"]) {
    return fc.oneof(
      fc.integer({ min: 0, max: 100 }),
      schema.pattern === undefined ? fc.integer({ min: 0, max: 100 }).map((number) => `${number}%`) : texts(schema),
    );
  }
  if (schema["x-kubernetes-embedded-resource"]) {
    return fc.constant({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "embedded" } });
  }
  switch (schema.type) {
    case "string":
      return texts(schema);
    case "integer":
      return integers(schema);
    case "number":
      return numbers(schema);
    case "boolean":
      return fc.boolean();
    case "array":
      return lists(schema);
    case "object":
      return objects(schema);
    default:
      return fc.oneof(
        plainTexts({}),
        fc.integer(),
        fc.boolean(),
        fc.dictionary(names(), plainTexts({}), { maxKeys: 2 }),
      );
  }
}

/** One option of a discriminated union, as `oneOf` writes it: fixed values, required and forbidden fields. */
function variantOf(schema: StructuralSchema, variant: StructuralSchema): StructuralSchema {
  const forbidden = new Set(variant.not?.anyOf?.flatMap(({ required = [] }) => required));
  const properties = Object.entries({ ...schema.properties, ...variant.properties })
    .filter(([name]) => !forbidden.has(name))
    .map(([name, field]) => [name, { ...schema.properties?.[name], ...field }] as const);
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    required: [...new Set([...(schema.required ?? []), ...(variant.required ?? [])])],
  };
}

function objects({ properties = {}, required = [], additionalProperties }: StructuralSchema): fc.Arbitrary<unknown> {
  const fields: [string, fc.Arbitrary<unknown>][] = [];
  const rare = new Set<string>();
  for (const [name, field] of Object.entries(properties)) {
    const rarity = required.includes(name) ? 1 : rarityOf(field);
    if (rarity > MOST_COMMON) rare.add(name);
    fields.push([name, rarity > MOST_COMMON ? onceIn(rarity, valuesOf(field)) : valuesOf(field)]);
  }
  const all = fc.record(Object.fromEntries(fields), {
    requiredKeys: [...required.filter((name) => name in properties), ...rare],
    noNullPrototype: true,
  });
  const known = rare.size === 0 ? all : all.map(withoutUndefined);
  if (additionalProperties === undefined) return known;
  const others = fc.dictionary(names(), valuesOf(additionalProperties), {
    maxKeys: MOST_ELEMENTS,
    noNullPrototype: true,
  });
  return fc.tuple(others, known).map(([some, fields]) => ({ ...some, ...fields }));
}

function onceIn(times: number, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ withCrossShrink: true }, { weight: times - 1, arbitrary: fc.constant(undefined) }, values);
}

function withoutUndefined(value: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}

/** Returns in how many objects an optional field is there once: the larger its values, the more. */
function rarityOf(field: StructuralSchema): number {
  return Math.max(MOST_COMMON, Math.min(Math.ceil(sizeOf(field) / AMPLE), RAREST));
}

const sizes = new WeakMap<StructuralSchema, number>();

/** How many values a value of the schema consists of, on average. */
function sizeOf(schema: StructuralSchema): number {
  const known = sizes.get(schema);
  if (known !== undefined) return known;
  const { properties = {}, required = [], items, additionalProperties } = schema;
  let size = 1;
  for (const [name, field] of Object.entries(properties)) {
    size += sizeOf(field) / (required.includes(name) ? 1 : rarityOf(field));
  }
  for (const element of [items, additionalProperties]) {
    if (element !== undefined) size += (sizeOf(element) * MOST_ELEMENTS) / 2;
  }
  sizes.set(schema, size);
  return size;
}

function lists(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const { items = {}, minItems: minLength = 0, maxItems = Infinity } = schema;
  const bounds = { minLength, maxLength: Math.min(maxItems, minLength + MOST_ELEMENTS) };
  const keys = schema["x-kubernetes-list-map-keys"];
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return fc.uniqueArray(valuesOf(items), { ...bounds, selector: (value) => JSON.stringify(value) });
    case "map":
      return fc.uniqueArray(valuesOf(items), { ...bounds, selector: (value) => keyed(value, keys ?? []) });
    default:
      return fc.array(valuesOf(items), bounds);
  }
}

function keyed(value: unknown, keys: readonly string[]): string {
  const fields = value as Readonly<Record<string, unknown>>;
  return JSON.stringify(keys.map((key) => fields[key]));
}

function names(): fc.Arbitrary<string> {
  return fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
}

function integers(schema: StructuralSchema): fc.Arbitrary<number> {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER, multipleOf = 1 } = schema;
  const [least, most] =
    schema.format === "int32" ? [-(2 ** 31), 2 ** 31 - 1] : [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const min = Math.max(schema.exclusiveMinimum ? minimum + 1 : minimum, least);
  const max = Math.min(schema.exclusiveMaximum ? maximum - 1 : maximum, most);
  return fc
    .integer({ min: Math.ceil(min / multipleOf), max: Math.floor(max / multipleOf) })
    .map((factor) => factor * multipleOf || 0);
}

function numbers(schema: StructuralSchema): fc.Arbitrary<number> {
  const { minimum: min, maximum: max, exclusiveMinimum = false, exclusiveMaximum = false, multipleOf } = schema;
  if (multipleOf !== undefined && Number.isInteger(multipleOf)) return integers(schema);
  return fc
    .double({
      ...(min !== undefined && { min, minExcluded: exclusiveMinimum }),
      ...(max !== undefined && { max, maxExcluded: exclusiveMaximum }),
      noNaN: true,
      noDefaultInfinity: true,
    })
    .map((number) => number || 0); // JSON has no -0
}

function texts(schema: StructuralSchema): fc.Arbitrary<string> {
  const pattern = schema.pattern === undefined ? undefined : javaScriptPattern(schema.pattern);
  const formatted = schema.format === undefined ? undefined : ofFormat(schema.format);
  if (formatted !== undefined) return formatted;
  return pattern === undefined ? plainTexts(schema) : fc.stringMatching(pattern, { size: "-1" });
}

function plainTexts({ minLength = 0, maxLength = Infinity }: StructuralSchema): fc.Arbitrary<string> {
  const bounds = { minLength, maxLength: Math.min(maxLength, minLength + MOST_CHARACTERS) };
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ ...bounds, unit: "grapheme-ascii" }) },
    fc.string({ ...bounds, unit: "grapheme" }),
  );
}

function ofFormat(format: string): fc.Arbitrary<string> | undefined {
  const hex = fc.integer({ min: 0, max: 255 }).map((byte) => byte.toString(16).padStart(2, "0"));
  switch (format) {
    case "date-time":
      return moments().map((date) => date.toISOString());
    case "date":
      return moments().map((date) => date.toISOString().slice(0, 10));
    case "email":
      return fc.tuple(names(), names()).map(([name, host]) => `${name}@${host}.example`);
    case "uuid":
      return fc.uuid();
    case "uri":
      return fc.tuple(names(), names()).map(([host, path]) => `https://${host}.example/${path}`);
    case "ipv4":
      return fc.ipV4();
    case "ipv6":
      return fc.ipV6();
    case "cidr":
      return fc.ipV4().map((address) => `${address}/32`);
    case "mac":
      return fc.array(hex, { minLength: 6, maxLength: 6 }).map((bytes) => bytes.join(":"));
    case "hostname":
      return names().map((name) => `${name}.example`);
    case "byte":
      return fc.base64String({ maxLength: 16 });
    default:
      return undefined;
  }
}

function moments(): fc.Arbitrary<Date> {
  return fc.date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true });
}

/** A pattern of RE2 in JavaScript's syntax; `undefined` when it is none there, so that texts are found by trying. */
function javaScriptPattern(pattern: string): RegExp | undefined {
  const flags = /^\(\?([ims]+)\)/.exec(pattern);
  const source = pattern
    .slice(flags?.[0].length ?? 0)
    .replaceAll("(?P<", "(?<")
    .replaceAll(/\\x\{([0-9A-Fa-f]+)\}/g, "\\u{$1}");
  try {
    // The flag is dropped: a text that matches in its own case matches in any.
    return new RegExp(source, `${flags?.[1]?.replace("i", "") ?? ""}u`);
  } catch {
    return undefined;
  }
}
