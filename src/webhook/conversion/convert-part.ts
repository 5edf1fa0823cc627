/**
 * Converts parts of objects.
 *
 * While the API server works out a server-side apply of an object whose managers use several versions, it has parts of
 * the object converted, to determine which fields correspond: each field of the part must appear in the result,
 * wherever the author's functions put it, and fields that the part lacks must not.
 */
import { isFields, sameJson } from "../../resource/json.ts";
import { completed, type Filling } from "../../resource/schema/completion.ts";
import { SAMPLES } from "../../resource/schema/sample.ts";
import type { StructuralSchema } from "../../resource/schema/structural.ts";
import type { WireObject } from "./wire-object.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface PartOptions {
  /** The schema of the part's version. */
  readonly schema: StructuralSchema;
  /** The schema of the target version. */
  readonly target: StructuralSchema;
  /** The whole object in the part's version shortly before, if that is known. */
  readonly whole?: WireObject | undefined;
  /** Converts a completed object. Missing fields are filled in at each step, but not at the end. */
  readonly through: (object: WireObject, filling: Filling) => WireObject;
}

/** Fillings: every sample with the schema's defaults, and two samples with other defaults. */
const FILLINGS: readonly Filling[] = [
  ...Array.from({ length: SAMPLES }, (_, variant) => ({ variant, otherDefaults: false })),
  { variant: 0, otherDefaults: true },
  { variant: 1, otherDefaults: true },
];

/** The results of two conversions with the same filling: of the part, and of less than the part. */
interface Attempt<T = unknown> {
  readonly part: T;
  readonly less: readonly T[];
}

/**
 * Completes the part in several ways and converts it each time, once with and once without the part's own fields. A
 * field that varies with the filling and is the same without the part follows from the filling, and is left out. All
 * others are kept, even if they follow from both.
 *
 * @throws the error of the author's functions, when they refuse the part with every filling.
 */
export function convertPart(input: WireObject, { schema, target, whole, through }: PartOptions): WireObject {
  // Authors may rely on a name. The result then gets the part's own metadata again.
  const part = { ...input, metadata: { name: whole?.metadata["name"] ?? "", ...input.metadata } };
  const attempts: Attempt<WireObject>[] = [];
  const errors: unknown[] = [];
  for (const filling of whole === undefined ? FILLINGS : [{ ...FILLINGS[0]!, model: whole }, ...FILLINGS]) {
    const convert = (object: WireObject) => through(completed(schema, object, filling) as WireObject, filling);
    try {
      attempts.push({ part: convert(part), less: converted(part, { schema, convert }) });
    } catch (error) {
      errors.push(error);
    }
  }
  if (attempts.length === 0) throw errors.at(-FILLINGS.length);
  const pick = (name: string, keepsConstants: boolean): unknown =>
    settled(fieldOf(attempts, name), { schema: target.properties?.[name], keepsConstants });
  const { apiVersion, kind } = attempts[0]!.part;
  // A constant that an author's function adds, such as a name, is kept if the part has other fields of `spec` or
  // `status`.
  const spec = pick("spec", hasFields(part.spec));
  const status = pick("status", hasFields(part.status));
  return {
    apiVersion,
    kind,
    metadata: metadataOf(input, attempts),
    ...(spec !== undefined && { spec }),
    ...(status !== undefined && { status }),
  };
}

function metadataOf({ metadata: given }: WireObject, attempts: readonly Attempt<WireObject>[]): Fields {
  const { labels: _, annotations: __, ...metadata } = given;
  const merged = settled(fieldOf(attempts, "metadata"), { schema: undefined, keepsConstants: true }) as
    Fields | undefined;
  const { labels, annotations } = merged ?? {};
  return {
    ...metadata,
    ...(hasFields(labels) && { labels }),
    ...(hasFields(annotations) && { annotations }),
  };
}

/** Converts the shape of the part; if the author's functions refuse that, the part without one field at a time. */
function converted(
  part: WireObject,
  { schema, convert }: { readonly schema: StructuralSchema; readonly convert: (less: WireObject) => WireObject },
): readonly WireObject[] {
  const attempt = (less: WireObject): readonly WireObject[] => {
    try {
      return [convert(less)];
    } catch {
      return [];
    }
  };
  const alone = attempt(emptied(part, schema));
  return alone.length > 0 ? alone : oneLess(part).flatMap(attempt);
}

/** Returns an object of the part's shape without its values. */
function emptied({ apiVersion, kind, metadata, spec, status }: WireObject, schema: StructuralSchema): WireObject {
  const { labels: _, annotations: __, ...others } = metadata;
  const { properties = {} } = schema;
  return {
    apiVersion,
    kind,
    metadata: others,
    ...(isFields(spec) && { spec: shapeOf(spec, properties["spec"]) }),
    ...(isFields(status) && { status: shapeOf(status, properties["status"]) }),
  };
}

/** Returns the objects in a value, and the items of keyed lists with their keys, without other fields. */
function shapeOf(fields: Fields, schema: StructuralSchema | undefined): Fields {
  const shape = Object.entries(fields).flatMap(([name, value]): (readonly [string, unknown])[] => {
    const inner = schema?.properties?.[name] ?? schema?.additionalProperties;
    if (isFields(value)) return [[name, shapeOf(value, inner)]];
    const keys = inner?.["x-kubernetes-list-map-keys"];
    if (!Array.isArray(value) || keys === undefined) return [];
    const items = value.filter(isFields).map((item) => ({ ...shapeOf(item, inner?.items), ...only(item, keys) }));
    return [[name, items]];
  });
  return Object.fromEntries(shape);
}

function only(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]));
}

function oneLess(part: WireObject): readonly WireObject[] {
  const { labels, annotations } = part.metadata;
  const texts = Object.entries({ labels, annotations }).map(([name, of]) =>
    without(of).map((left) => ({ ...part, metadata: { ...part.metadata, [name]: left } })),
  );
  const fields = (["spec", "status"] as const).map((name) =>
    without(part[name]).map((left) => ({ ...part, [name]: left })),
  );
  return [...texts, ...fields].flat();
}

/** Returns the fields without each of them in turn. */
function without(fields: unknown): readonly Fields[] {
  if (!isFields(fields)) return [];
  return Object.keys(fields).map((name) => {
    const { [name]: _, ...left } = fields;
    return left;
  });
}

interface Place {
  /** The schema of the value, if it has one. */
  readonly schema: StructuralSchema | undefined;
  /** Whether values are kept that depend on none of the attempts. */
  readonly keepsConstants: boolean;
}

/**
 * Returns the values on which the attempts agree, without those that follow from the filling; `undefined` when none is
 * left.
 */
function settled(attempts: readonly Attempt[], place: Place): unknown {
  const values = attempts.map(({ part }) => part).filter(isValue);
  if (values.length === 0) return undefined;
  const { schema, keepsConstants } = place;
  if (values.every(isFields) && values.some(hasFields) && schema?.["x-kubernetes-map-type"] !== "atomic") {
    const fields = [...new Set(values.flatMap(Object.keys))].flatMap((name) => {
      const inner = schema?.properties?.[name] ?? schema?.additionalProperties;
      const value = settled(fieldOf(attempts, name), { schema: inner, keepsConstants });
      return value === undefined ? [] : [[name, value] as const];
    });
    return fields.length === 0 ? undefined : Object.fromEntries(fields);
  }
  const items = schema && itemsOf(schema, { schema: schema.items, keepsConstants });
  if (items !== undefined && values.every(Array.isArray) && values.some(({ length }) => length > 0)) {
    return settledItems(attempts, items);
  }
  const fromPart = attempts.some(({ part, less }) => less.some((one) => !same(part, one)));
  const fromFilling = attempts.some(({ part }) => !same(part, attempts[0]!.part));
  return fromPart || (keepsConstants && !fromFilling) ? values[0] : undefined;
}

interface Items {
  /** The fields that identify items; items of a set identify themselves. */
  readonly keys: readonly string[];
  readonly keyOf: (item: unknown) => string;
  readonly place: Place;
}

/** Compares items by their keys, because the API server uses these to determine the owner of a field. */
function settledItems(attempts: readonly Attempt[], { keys, keyOf, place }: Items): unknown {
  const lists = attempts.map(({ part, less }) => ({
    part: byKey(part, keyOf),
    less: less.map((one) => byKey(one, keyOf)),
  }));
  const items = [...new Set(lists.flatMap(({ part }) => [...part.keys()]))].flatMap((key) => {
    const candidates = lists.map(({ part, less }) => ({ part: part.get(key), less: less.map((one) => one.get(key)) }));
    const item = settled(candidates, place);
    if (item === undefined) return [];
    const whole = candidates.find(({ part }) => part !== undefined)?.part;
    // An item needs its key, because nobody could own it otherwise.
    return [isFields(item) && isFields(whole) ? { ...only(whole, keys), ...item } : item];
  });
  return items.length === 0 ? undefined : items;
}

function byKey(list: unknown, keyOf: Items["keyOf"]): ReadonlyMap<string, unknown> {
  return new Map(Array.isArray(list) ? list.map((item: unknown) => [keyOf(item), item]) : []);
}

/** Returns the way in which the items of a list are identified; `undefined` for a list that is a whole. */
function itemsOf(schema: StructuralSchema, place: Place): Items | undefined {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return { keys, keyOf: JSON.stringify, place };
    case "map":
      return { keys, keyOf: (item) => JSON.stringify(isFields(item) ? keys.map((key) => item[key]) : item), place };
    default:
      return undefined;
  }
}

function fieldOf(attempts: readonly Attempt[], name: string): readonly Attempt[] {
  const of = (value: unknown): unknown => (isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined);
  return attempts.map(({ part, less }) => ({ part: of(part), less: less.map(of) }));
}

function same(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || sameJson(one, other);
}

/** Whether a conversion produced a value: it may have none for a sample, such as the number of an empty text. */
function isValue(value: unknown): boolean {
  return value !== undefined && !Number.isNaN(value);
}

function hasFields(value: unknown): boolean {
  return isFields(value) && Object.keys(value).length > 0;
}
