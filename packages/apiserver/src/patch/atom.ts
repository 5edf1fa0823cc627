/** A schema as merging sees it: which parts of a value can be owned on their own, and which only as a whole. */
import { isFloat } from "../numbers.ts";
import type { Schema } from "../schema/schema.ts";
import { getOrInsert } from "../get-or-insert.ts";
import type { Named } from "./field-set.ts";

export type ScalarType = "numeric" | "string" | "boolean" | "untyped";

export interface ListAtom {
  /** Whether items can be owned one by one; otherwise the list is owned as a whole. */
  readonly associative: boolean;
  /** The keys of a list map; empty for a set. */
  readonly keys: readonly string[];
  readonly element: Atom;
}

export interface MapAtom {
  readonly atomic: boolean;
  /** Returns the type of a declared field, or that of any other key; `undefined` when the key is not allowed. */
  typeOf(key: string): Atom | undefined;
  declares(key: string): boolean;
  /** Whether nothing is declared, so that anything is allowed. */
  readonly deduced: boolean;
}

/** The shapes that a value may have, at least one of the three. */
export interface Atom extends Named {
  readonly scalar: ScalarType | undefined;
  readonly list: ListAtom | undefined;
  readonly map: MapAtom | undefined;
  /** The default of a field that is a key of a list map. */
  readonly default: unknown;
}

export type Shape = "map" | "scalar" | "list";

/** Returns the shape that applies to a value: its own one if the schema allows that, otherwise the allowed one. */
export function shapeOf(atom: Atom, value: unknown): Shape {
  if (Array.isArray(value)) {
    if (atom.list) return "list";
  } else if (typeof value === "object" && value !== null && !isFloat(value)) {
    if (atom.map) return "map";
  } else if (value !== undefined && value !== null && atom.scalar) return "scalar";
  return atom.map ? "map" : atom.scalar ? "scalar" : "list";
}

const simple = { default: undefined, hasField: () => false, at: () => undefined };

/** Any value, owned as a whole. */
const untyped: Atom = {
  ...simple,
  scalar: "untyped",
  get list() {
    return { associative: false, keys: [], element: untyped };
  },
  map: { atomic: true, typeOf: () => untyped, declares: () => false, deduced: false },
};

/** The atom of a value without a schema: lists are owned as a whole, maps by key. */
const deduced: Atom = {
  ...simple,
  scalar: "untyped",
  list: { associative: false, keys: [], element: untyped },
  map: { atomic: false, typeOf: () => deduced, declares: () => false, deduced: true },
};

const known = new WeakMap<Schema, Atom>();
/** The atoms of schemas inside one that preserves unknown fields. */
const knownInside = new WeakMap<Schema, Atom>();

/** Returns the atom of a schema; `preserve` is set inside a schema that preserves unknown fields. */
export function atomOf(schema: Schema, preserve = false): Atom {
  // The metadata of an embedded object has its own fields, wherever it is.
  const inside = schema.go === undefined && (preserve || schema.preserveUnknown);
  const cache = inside ? knownInside : known;
  return getOrInsert(cache, schema, () => createAtom(schema, inside));
}

const scalars: Readonly<Record<string, ScalarType>> = {
  integer: "numeric",
  number: "numeric",
  string: "string",
  boolean: "boolean",
};

/** Go types that structured-merge-diff treats as scalars of any type. */
const anyScalars: ReadonlySet<string> = new Set(["quantity", "time", "microTime"]);

function createAtom(schema: Schema, preserve: boolean): Atom {
  if (schema.go?.own === "raw") return untyped;
  if (schema.go?.own !== undefined && anyScalars.has(schema.go.own))
    return new SchemaAtom(schema, { preserve, scalar: "untyped" });
  const scalar = scalars[schema.type];
  if (scalar) return new SchemaAtom(schema, { preserve, scalar });
  return new SchemaAtom(schema, { preserve, scalar: schema.type === "" ? "untyped" : undefined });
}

class SchemaAtom implements Atom {
  readonly scalar: ScalarType | undefined;
  readonly list: ListAtom | undefined;
  readonly map: MapAtom | undefined;
  readonly default: unknown;
  readonly #properties: ReadonlyMap<string, Schema> | undefined;
  readonly #preserve: boolean;

  constructor(schema: Schema, { preserve, scalar }: { preserve: boolean; scalar: ScalarType | undefined }) {
    const any = schema.type === "" && schema.go?.own !== "quantity";
    this.scalar = scalar;
    this.default = schema.default;
    this.#properties = schema.properties;
    this.#preserve = preserve;
    this.list = any || schema.type === "array" ? listAtom(schema, preserve) : undefined;
    this.map = any || schema.type === "object" ? mapAtom(schema, preserve) : undefined;
  }

  hasField(element: string): boolean {
    return this.#properties?.has(element.slice(2)) ?? false;
  }

  at(element: string): Named | undefined {
    if (!element.startsWith("f:")) return this.list?.element;
    const field = this.#properties?.get(element.slice(2));
    return field ? atomOf(field, this.#preserve) : this.map?.typeOf(element.slice(2));
  }
}

function listAtom(schema: Schema, preserve: boolean): ListAtom {
  const strategy = schema.patchStrategies.join(",");
  const merged = schema.listType === undefined && (strategy === "merge" || strategy === "merge,retainKeys");
  const mergeKeys = schema.patchMergeKey === undefined ? [] : [schema.patchMergeKey];
  return {
    associative: merged || schema.listType === "map" || schema.listType === "set",
    keys: merged ? mergeKeys : schema.listType === "map" ? schema.listKeys : [],
    get element() {
      return schema.items ? atomOf(schema.items, preserve) : untyped;
    },
  };
}

function mapAtom(schema: Schema, preserve: boolean): MapAtom {
  const { properties, additional } = schema;
  const open = additional === undefined && (preserve || properties === undefined || properties.size === 0);
  return {
    atomic: schema.mapType === "atomic",
    typeOf(key) {
      const field = properties?.get(key);
      if (field) return atomOf(field, preserve);
      if (additional) return atomOf(additional, preserve);
      return open ? deduced : undefined;
    },
    declares: (key) => properties?.has(key) ?? false,
    deduced: open && (properties === undefined || properties.size === 0),
  };
}
