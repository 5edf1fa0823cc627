/** Values for a field: made from its schema if the field is absent, else close to its present value. */
import type { Schema } from "../../src/schema/schema.ts";

type Value = readonly [label: string, value: unknown];

/** Returns a minimal value that the schema of a field permits. */
export function plausible(schema: Schema, depth = 0): unknown {
  const own = schema.go?.own;
  if (own === "quantity") return "1";
  if (own === "time") return "2020-01-02T03:04:05Z";
  if (own === "microTime") return "2020-01-02T03:04:05.000006Z";
  if (own === "intOrString") return 1;
  if (own !== undefined) return {};
  if (schema.enum && schema.enum.length > 0) return schema.enum[0];
  if (schema.type === "string") return schema.format === "byte" ? "eA==" : "a";
  if (schema.type === "integer" || schema.type === "number") return 1;
  if (schema.type === "boolean") return true;
  if (schema.type === "array") return depth > 4 || !schema.items ? [] : [plausible(schema.items, depth + 1)];
  if (schema.properties) {
    const fields: Record<string, unknown> = {};
    for (const name of depth > 4 ? [] : schema.required) {
      const field = schema.properties.get(name);
      if (field) fields[name] = plausible(field, depth + 1);
    }
    return fields;
  }
  return schema.additional ? { a: plausible(schema.additional, depth + 1) } : {};
}

/** Returns values for an absent field. */
export function newValues(schema: Schema): Value[] {
  const own = schema.go?.own;
  const first: Value = ["as it may be", plausible(schema)];
  if (own === "quantity") return [first, ["negative", "-1"], ["fractional", "0.5Gi"], ["no quantity", "x"]];
  if (own === "time" || own === "microTime") return [first, ["no time", "nope"]];
  if (own === "intOrString")
    return [first, ["negative", -1], ["half", "50%"], ["more than all", "150%"], ["text", "x"], ["empty", ""]];
  if (own !== undefined) return [first];
  if (schema.type === "string") return [first, ["empty", ""], ["bad", "Not Valid!"], ["long", "a".repeat(260)]];
  if (schema.type === "integer" || schema.type === "number")
    return [first, ["zero", 0], ["negative", -1], ["large", 70_000], ["too large", 2 ** 31]];
  if (schema.type === "boolean") return [first, ["false", false]];
  if (schema.type === "array") {
    const item = schema.items ? plausible(schema.items, 1) : "a";
    return [first, ["empty", []], ["doubled", [item, item]], ["of null", [null]]];
  }
  if (schema.properties) return [first, ["empty", {}], ["a text", "x"]];
  return [first, ["empty", {}], ["of a bad key", { "not valid!": Object.values(first[1] as object)[0] ?? "a" }]];
}

/** Returns values to put in place of a present one. */
export function otherValues(value: unknown): Value[] {
  if (typeof value === "string") {
    return [
      ["null", null],
      ["long", "a".repeat(260)],
      ["upper", "Upper"],
      ["slashed", "a/b"],
      ["spaced", " a "],
      ["a count", "12"],
      ["dotted", "a.b"],
      ["dashed", "-a"],
    ];
  }
  if (typeof value === "number") {
    const numbers: Value[] = [0, 1, 70_000, 2 ** 31, 1.5].map((each) => [String(each), each]);
    return [["null", null], ["one more", value + 1], ...numbers];
  }
  if (typeof value === "boolean") return [["null", null] as const, ["otherwise", !value] as const, ["a number", 1]];
  if (Array.isArray(value)) {
    return [
      ["null", null],
      ["with null", [...value, null]],
      ["repeated", value.length > 0 ? [...value, structuredClone(value[0])] : ["a", "a"]],
      ["an object", {}],
    ];
  }
  if (value === null) return [];
  const [name, inner] = Object.entries(value as object)[0] ?? ["a", "b"];
  return [
    ["null", null],
    ["with a bad key", { ...(value as object), "not valid!": inner }],
    ["with an empty key", { ...(value as object), "": inner }],
    ["a list", [{ [name]: inner }]],
  ];
}

/** Returns another value, which is probably valid. */
export function changedValue(value: unknown): unknown {
  if (typeof value === "string") return /^\d+$/.test(value) ? `${value}1` : `${value}x`;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return value.slice(1);
  return value === null || typeof value !== "object" ? value : { ...value, added: "a" };
}
