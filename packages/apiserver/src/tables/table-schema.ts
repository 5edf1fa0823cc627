/** Schemas of built-in kinds on top of the compact table; they are created when they are first used. */
import type { GoShape, OwnType, Schema, SchemaType, ValueRules } from "../schema/schema.ts";
import type { FieldRow, TypeRow, TypeTable } from "./table-type.ts";

export interface LoadedTypes {
  schemaOf(groupVersionKind: string): Schema | undefined;
}

export function loadTypes(table: TypeTable): LoadedTypes {
  const types: readonly TableType[] = table.types.map((row) => new TableType(row, (number) => types[number]!));
  return {
    schemaOf(groupVersionKind) {
      const number = Object.hasOwn(table.kinds, groupVersionKind) ? table.kinds[groupVersionKind] : undefined;
      return number === undefined ? undefined : types[number]!.whole;
    },
  };
}

type TypeOf = (number: number) => TableType;

/** One Go struct; all fields of that type share its fields. */
class TableType {
  readonly row: TypeRow;
  readonly #typeOf: TypeOf;
  #properties: ReadonlyMap<string, Schema> | undefined;
  #whole: Schema | undefined;

  constructor(row: TypeRow, typeOf: TypeOf) {
    this.row = row;
    this.#typeOf = typeOf;
  }

  get properties(): ReadonlyMap<string, Schema> {
    this.#properties ??= new Map(
      Object.entries(this.row.f).map(([name, row]) => [name, new TableSchema(row, { typeOf: this.#typeOf })]),
    );
    return this.#properties;
  }

  get whole(): Schema {
    this.#whole ??= new TableSchema({ x: `v1.${this.row.n}` }, { typeOf: this.#typeOf, type: this });
    return this.#whole;
  }
}

const long: Readonly<Record<string, SchemaType>> = {
  s: "string",
  i: "integer",
  n: "number",
  b: "boolean",
  a: "array",
  o: "object",
  "": "",
};

const none: readonly string[] = [];

/** The type by which merging treats each type that decodes itself. */
const ownTypes: Readonly<Record<OwnType, SchemaType>> = {
  quantity: "",
  time: "string",
  microTime: "string",
  intOrString: "",
  raw: "object",
  json: "",
  fieldsV1: "object",
  schemaOrArray: "",
  schemaOrBool: "",
  schemaOrStrings: "",
};

class TableSchema implements Schema {
  readonly #row: FieldRow;
  readonly #struct: TableType | undefined;
  readonly type: SchemaType;
  readonly format: string | undefined;
  readonly nullable = false;
  readonly required: readonly string[];
  readonly enum: readonly unknown[] | undefined;
  readonly default: unknown;
  readonly intOrString: boolean;
  readonly preserveUnknown: boolean;
  readonly embedded = false;
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listKeys: readonly string[];
  readonly mapType: "atomic" | "granular" | undefined;
  readonly patchStrategies: readonly string[];
  readonly patchMergeKey: string | undefined;
  readonly go: GoShape;
  readonly values: ValueRules | undefined = undefined;
  readonly items: Schema | undefined;
  readonly additional: Schema | undefined;

  constructor(row: FieldRow, { typeOf, type }: { readonly typeOf: TypeOf; readonly type?: TableType }) {
    const struct = type ?? (row.r === undefined ? undefined : typeOf(row.r));
    const own = struct?.row.s as OwnType | undefined;
    this.#row = row;
    this.#struct = own === undefined ? struct : undefined;
    this.type = own === undefined ? (struct ? "object" : long[row.t ?? ""]!) : ownTypes[own];
    this.format = row.f;
    this.required = struct?.row.q ?? none;
    this.enum = row.e;
    this.default = row.d;
    this.intOrString = own === "intOrString";
    this.preserveUnknown = own === "raw" || own === "json" || own === "fieldsV1";
    this.listType = row.l;
    this.listKeys = row.k ?? none;
    this.mapType = (row.m ?? struct?.row.m) as "atomic" | "granular" | undefined;
    this.patchStrategies = row.p?.split(",") ?? none;
    this.patchMergeKey = row.g;
    this.items = row.i === undefined ? undefined : new TableSchema(this.#element(row.i), { typeOf });
    this.additional = row.a === undefined ? undefined : new TableSchema(this.#element(row.a), { typeOf });
    this.go = {
      struct: this.#struct?.row.n,
      type: goType(row, struct),
      pointer: row.y === 1,
      omit: row.o === undefined ? undefined : row.o === 2 ? "zero" : "empty",
      own,
    };
  }

  get properties(): ReadonlyMap<string, Schema> | undefined {
    return this.#struct?.properties;
  }

  get [Symbol.toStringTag](): string {
    return this.go.type;
  }

  /** The Go type of an element: the part after `[]` or `map[string]` in the type of its container. */
  #element(row: FieldRow): FieldRow {
    const type = this.#row.x?.replace(/^(\[\]|map\[[\w.]+\])/, "");
    if (type === undefined || type === this.#row.x || row.x !== undefined) return row;
    return { ...row, x: type.replace(/^\*/, ""), ...(type.startsWith("*") ? { y: 1 as const } : {}) };
  }
}

function goType(row: FieldRow, struct: TableType | undefined): string {
  if (row.x !== undefined) return row.x;
  if (struct) return `v1.${struct.row.n}`;
  if (row.t === "s") return "string";
  if (row.t === "b") return "bool";
  return row.f ?? "interface {}";
}
