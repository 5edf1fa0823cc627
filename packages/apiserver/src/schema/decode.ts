/** Decodes and encodes built-in objects as Go does: unknown fields, type errors, empty values, the order of fields. */
import { goQuoted } from "../field-error.ts";
import { asInteger, isFloat, isNumber, numberOf } from "../numbers.ts";
import { canonical, HardError, type OwnContext, TypeMismatch } from "./own-types.ts";
import { isInt64, NumberText, withoutNumberTexts } from "./number-text.ts";
import { roundedToMilli } from "./quantity.ts";
import type { Schema } from "./schema.ts";
import { setField } from "./set-field.ts";

export interface Decoded {
  /** The object as the server would return it. */
  readonly object: unknown;
  /** Why it cannot be decoded; then the request is rejected. */
  readonly error: string | undefined;
  /** Whether it has lists or maps that are empty and not absent. */
  readonly hasEmpty: boolean;
  /** Unknown fields in the words of strict decoding, such as `unknown field "spec.foo"`; at most 100. */
  readonly unknown: readonly string[];
}

export interface DecodeOptions {
  /**
   * Whether the value comes from text, or from the parsed values of a strategic merge patch or an apply, whose integers
   * are not checked.
   *
   * @default "json"
   */
  readonly from?: "json" | "unstructured";
  /**
   * The treatment of empty lists and maps: storage drops all of them, encoding drops those that may be omitted, and
   * messages show them all.
   *
   * @default "stored"
   */
  readonly empty?: "stored" | "encoded" | "kept";
}

/** Decodes a JSON value; the argument stays as it is. */
export function decodeBuiltIn(schema: Schema, value: unknown, options: DecodeOptions = {}): Decoded {
  const decoding = new Decoding(options);
  try {
    const object = decoding.decode(schema, value, { parent: undefined, strict: "" });
    return { object, error: decoding.error, unknown: [...decoding.unknown], hasEmpty: decoding.hasEmpty };
  } catch (error) {
    if (!(error instanceof HardError)) throw error;
    return {
      object: undefined,
      error: decoding.messageOf(error.cause as Error | TypeMismatch),
      unknown: [],
      hasEmpty: false,
    };
  }
}

interface Place {
  /** The struct that has the field. */
  readonly parent: Schema | undefined;
  /** The path as strict errors show it. */
  readonly strict: string;
}

/** The fields of `JSONSchemaProps` with types that decode themselves. */
const decodingThemselves: ReadonlySet<string> = new Set([
  "items",
  "additionalItems",
  "additionalProperties",
  "dependencies",
]);

class Decoding {
  readonly unknown = new Set<string>();
  /** The first error. */
  error: string | undefined;
  /** The names of the enclosing fields. */
  readonly #path: string[] = [];
  hasEmpty = false;
  readonly #from: "json" | "unstructured";
  readonly #empty: "stored" | "encoded" | "kept";
  /** The number of enclosing lists that are atomic. */
  #atoms = 0;
  /** The number of enclosing types that decode themselves; their content is never decoded strictly. */
  #lenient = 0;

  constructor({ from = "json", empty = "stored" }: DecodeOptions) {
    this.#from = from;
    this.#empty = empty;
  }

  decode(schema: Schema, value: unknown, place: Place): unknown {
    const go = schema.go!;
    if (value === null || value === undefined) return this.zero(schema);
    if (value instanceof NumberText) {
      if (go.own === "quantity") return this.decode(schema, value.text, place);
      if (value.text === "-0" && (go.own === "intOrString" || schema.type === "integer")) return 0;
      if (go.own === "intOrString") throw new HardError(new TypeMismatch(`number ${value.text}`, "int32"));
      if (schema.type !== "integer" || go.own) return this.decode(schema, numberOf(value.text), place);
      if (go.type === "int64" && isInt64(value.text)) return numberOf(value.text);
      return this.#report(new TypeMismatch(`number ${value.text}`, goType(schema)), schema);
    }
    if (isFloat(value) && (go.own || schema.type === "integer" || schema.type === "number"))
      return this.decode(schema, Number(value), place);
    if (go.own) return canonical(go.own, value, this.#ownContext(schema, place));
    switch (schema.type) {
      case "object":
        return schema.properties ? this.#structure(schema, value, place) : this.#map(schema, value, place);
      case "array":
        return this.#list(schema, value, place);
      case "string":
        if (go.type === "[]uint8") return this.#bytes(value, schema);
        return typeof value === "string" ? value : this.#mismatch(schema, value);
      case "boolean":
        return typeof value === "boolean" ? value : this.#mismatch(schema, value);
      case "integer":
        return this.#integer(schema, value);
      case "number":
        return typeof value === "number" || typeof value === "bigint" ? Number(value) : this.#mismatch(schema, value);
      default:
        return withoutNumberTexts(value);
    }
  }

  /** Returns what Go encodes for an absent value. */
  zero(schema: Schema): unknown {
    const go = schema.go!;
    if (go.pointer) return null;
    if (go.own) return go.own === "quantity" ? "0" : go.own === "intOrString" ? 0 : null;
    if (schema.type === "object") return schema.properties ? this.#encode(schema, new Map()) : null;
    if (schema.type === "array" || go.type === "[]uint8" || schema.type === "") return null;
    return schema.type === "string" ? "" : schema.type === "boolean" ? false : 0;
  }

  messageOf(error: Error | TypeMismatch): string {
    if (!(error instanceof TypeMismatch)) return error.message;
    const place = this.#path.length === 0 ? "" : ` into ${this.#path.join(".")}`;
    return `json: cannot unmarshal ${error.value}${place} of type ${error.type}`;
  }

  #structure(schema: Schema, value: unknown, { strict }: Place): unknown {
    if (typeof value !== "object" || Array.isArray(value) || isFloat(value)) return this.#mismatch(schema, value);
    const decoded = new Map<string, unknown>();
    const entries = Object.entries(value as object);
    // Parsed values are visited in the order of their names.
    if (this.#from === "unstructured") entries.sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [name, inner] of entries) {
      const field = schema.properties!.get(name);
      const path = strict === "" ? name : `${strict}.${name}`;
      if (!field) {
        if (this.unknown.size < 100 && this.#lenient === 0) this.unknown.add(`unknown field ${goQuoted(path)}`);
        continue;
      }
      const isLenient = schema.go!.struct === "JSONSchemaProps" && decodingThemselves.has(name);
      this.#path.push(name);
      if (isLenient) this.#lenient++;
      decoded.set(name, this.decode(field, inner, { parent: schema, strict: path }));
      if (isLenient) this.#lenient--;
      this.#path.pop();
    }
    return this.#encode(schema, decoded);
  }

  /** Encodes in Go's order, without fields that are omitted when empty. */
  #encode(schema: Schema, decoded: ReadonlyMap<string, unknown>): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const [name, field] of schema.properties!) {
      let value = decoded.get(name);
      if (value === undefined) {
        // Most fields are absent, so a zero value is created only where it is encoded.
        if (field.go!.omit !== undefined && !isStruct(field)) continue;
        value = this.zero(field);
      }
      if (isEmptyCollection(field, value)) {
        this.hasEmpty = true;
        if (this.#empty === "kept" || (this.#empty === "encoded" && this.#atoms > 0)) object[name] = value;
        else if (field.go!.omit === undefined) object[name] = this.#empty === "encoded" ? value : null;
      } else if (field.go!.omit === undefined || !isEmpty(field, value)) object[name] = value;
    }
    return object;
  }

  #map(schema: Schema, value: unknown, { parent, strict }: Place): unknown {
    if (typeof value !== "object" || Array.isArray(value) || isFloat(value)) return this.#mismatch(schema, value);
    const map: Record<string, unknown> = {};
    const isResourceList = schema.go!.type === "v1.ResourceList";
    const entries = Object.entries(value as object);
    entries.sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [key, inner] of entries) {
      const place = { parent, strict: strict === "" ? key : `${strict}.${key}` };
      const item = schema.additional ? this.decode(schema.additional, inner, place) : withoutNumberTexts(inner);
      setField(map, key, isResourceList ? roundedToMilli(String(item)) : item);
    }
    return map;
  }

  #list(schema: Schema, value: unknown, { parent, strict }: Place): unknown {
    if (!Array.isArray(value)) return this.#mismatch(schema, value);
    if (!schema.items) return withoutNumberTexts(value);
    const isAtom = schema.listType !== "map" && schema.listType !== "set";
    if (isAtom) this.#atoms++;
    const list = value.map((item, index) =>
      this.decode(schema.items!, item, { parent, strict: `${strict}[${index}]` }),
    );
    if (isAtom) this.#atoms--;
    return list;
  }

  #bytes(value: unknown, schema: Schema): unknown {
    if (typeof value !== "string") return this.#mismatch(schema, value);
    const text = value.replace(/[\r\n]/g, "");
    if (!base64.test(text)) this.error ??= "illegal base64 data";
    return text;
  }

  #integer(schema: Schema, value: unknown): unknown {
    if (typeof value === "bigint") {
      if (schema.go!.type === "int64") return value;
      if (this.#from === "unstructured") return Number(BigInt.asIntN(32, value));
      return this.#report(new TypeMismatch(`number ${value}`, goType(schema)), schema);
    }
    if (typeof value !== "number") return this.#mismatch(schema, value);
    if (this.#from === "unstructured" && Number.isInteger(value)) return converted(value, schema.go!.type);
    const limit = schema.go!.type === "int32" ? 2 ** 31 : 2 ** 63;
    if (Number.isInteger(value) && value < limit && value >= -limit) return value;
    return this.#report(new TypeMismatch(`number ${value}`, goType(schema)), schema);
  }

  #mismatch(schema: Schema, value: unknown): unknown {
    return this.#report(new TypeMismatch(kindOf(value), goType(schema)), schema);
  }

  #report(mismatch: TypeMismatch, schema: Schema): unknown {
    this.error ??= this.messageOf(mismatch);
    return this.zero(schema);
  }

  #ownContext(schema: Schema, { parent, strict }: Place): OwnContext {
    return {
      type: schema.go!.type,
      decodeAs: (as: Schema, value: unknown) => this.decode(as, value, { parent: as, strict }),
      parent,
    };
  }
}

/** Converts a whole number as Go does, without a check: a number beyond 64 bits becomes the smallest integer. */
function converted(value: number, type: string): number | bigint {
  if (Math.abs(value) < 2 ** 31) return value;
  const whole = Math.abs(value) < 2 ** 63 ? BigInt(value) : -(2n ** 63n);
  return asInteger(BigInt.asIntN(type === "int32" ? 32 : 64, whole));
}

function goType(schema: Schema): string {
  return schema.go!.type;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return isNumber(value) ? "number" : typeof value === "boolean" ? "bool" : typeof value;
}

function isStruct(field: Schema): boolean {
  return !field.go!.pointer && (field.properties !== undefined || field.go!.own !== undefined);
}

/** Implements Go's `omitempty`, for which structs are never empty. `omitzero` occurs only with times. */
function isEmpty(field: Schema, value: unknown): boolean {
  if (field.go!.omit === "zero") return value === null;
  if (isStruct(field)) return false;
  if (field.go!.pointer) return value === null;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === "" || value === 0 || value === false;
}

/** Whether a list or map is empty, which storage does not distinguish from an absent one. */
function isEmptyCollection(field: Schema, value: unknown): boolean {
  if (field.go!.pointer || typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  return field.properties === undefined && field.go!.own === undefined && Object.keys(value).length === 0;
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
