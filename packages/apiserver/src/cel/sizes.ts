/** Computes how large values can become in one request, from which the cost of rules is estimated. */
import { escapeName } from "./values.ts";
import type { Schema } from "../schema/schema.ts";

export interface SizeType {
  readonly kind: "object" | "map" | "list" | "string" | "bytes" | "scalar" | "dyn";
  /** The maximum number of characters, items or entries. */
  readonly most: number;
  /** The minimum number of bytes as JSON. */
  readonly least: number;
  /** The items of a list or the values of a map. */
  readonly items?: SizeType;
  /** The fields by their names in rules. */
  readonly fields?: ReadonlyMap<string, SizeType>;
}

const mostBytes = 3 * 1024 * 1024;
const times: Readonly<Record<string, readonly [most: number, least: number]>> = {
  duration: [32, 3],
  date: [12, 12],
  "date-time": [32, 21],
};
/** The keys of a map, whose length is unknown. */
export const keySize: SizeType = { kind: "string", most: 0, least: 2 };

function scalar(least: number): SizeType {
  return { kind: "scalar", most: 0, least };
}

/** Returns the sizes of values of a schema; `undefined` for values that rules cannot see. */
export function sizesOf(schema: Schema, root = false): SizeType | undefined {
  const { values } = schema;
  if (schema.intOrString) {
    return { kind: "dyn", least: 1, most: values?.maxLength === undefined ? mostBytes - 2 : values.maxLength * 4 };
  }
  switch (schema.type) {
    case "integer":
    case "number":
      return scalar(1);
    case "boolean":
      return scalar(4);
    case "string":
      return textSizes(schema);
    case "array": {
      const items = schema.items && sizesOf(schema.items, schema.items.embedded);
      if (items === undefined) return undefined;
      const most = values?.maxItems ?? Math.floor((mostBytes - 2) / (items.least + 1));
      return { kind: "list", most, least: 2, items };
    }
    case "object":
      return objectSizes(schema, root);
    default:
      return undefined;
  }
}

function textSizes({ format = "", values, enum: allowed }: Schema): SizeType {
  const time = times[format];
  if (time !== undefined) return { kind: "scalar", most: time[0], least: time[1] };
  const { maxLength } = values ?? {};
  if (format === "byte") return { kind: "bytes", most: maxLength ?? mostBytes - 2, least: 2 };
  const longest = Math.max(0, ...(allowed ?? []).map((one) => (typeof one === "string" ? one.length : 0)));
  const otherwise = allowed !== undefined && allowed.length > 0 ? longest : mostBytes - 2;
  return { kind: "string", most: maxLength === undefined ? otherwise : maxLength * 4, least: 2 };
}

function objectSizes(schema: Schema, root: boolean): SizeType | undefined {
  if (schema.additional !== undefined && schema.properties === undefined) {
    const items = sizesOf(schema.additional, schema.additional.embedded);
    if (items === undefined) return undefined;
    const most = schema.values?.maxProperties ?? Math.floor((mostBytes - 2) / (items.least + 6));
    return { kind: "map", most, least: 2, items };
  }
  const fields = new Map<string, SizeType>();
  let least = 2;
  if (root) {
    const text: SizeType = { kind: "string", most: mostBytes - 2, least: 2 };
    const named = new Map([
      ["name", text],
      ["generateName", text],
    ]);
    fields.set("apiVersion", text).set("kind", text);
    fields.set("metadata", { kind: "object", most: 0, least: 2, fields: named });
  }
  for (const [name, property] of schema.properties ?? []) {
    if (root && name === "metadata") continue;
    const size = sizesOf(property, property.embedded);
    if (size === undefined) continue;
    fields.set(escapeName(name), size);
    if (schema.required.includes(name) && property.default === undefined) least += name.length + size.least + 4;
  }
  return { kind: "object", most: 0, least, fields };
}

/** Returns how often a value of this size can occur in one object. */
export function mostTimes({ least }: SizeType): number {
  return Math.floor(mostBytes / (least + 1));
}
