/** The compact form of the schemas of built-in types, which `scripts/generate-builtin.ts` writes. */

/** A type without fields of its own. */
export type Plain =
  | "string"
  | "boolean"
  | "integer"
  | "int32"
  | "int64"
  | "number"
  | "double"
  | "byte"
  | "date-time"
  | "quantity"
  | "int-or-string"
  | "object"
  | "any";

/** A field, or the content of a list or a map: a plain type, the name of a type, or a detailed row. */
export type Row = Plain | (string & {}) | DetailedRow;

/** A field with more than a type; it has one of `is`, `items` and `values`. */
export interface DetailedRow {
  readonly is?: Plain | (string & {});
  /** The items of a list. */
  readonly items?: Row;
  /** The values of a map. */
  readonly values?: Row;
  readonly default?: unknown;
  readonly nullable?: true;
  /** How server-side apply merges a list. @default "atomic" */
  readonly list?: "set" | "map";
  /** The keys of the items of a list of type `map`. */
  readonly keys?: readonly string[];
  /** How server-side apply merges an object. @default "granular" */
  readonly map?: "atomic";
}

export type TypeRow =
  | Plain
  | {
      readonly fields: Readonly<Record<string, Row>>;
      readonly required?: readonly string[];
      readonly map?: "atomic";
    };

/** Types by their names in `binnacle/resources`. */
export type SchemaTable = Readonly<Record<string, TypeRow>>;
