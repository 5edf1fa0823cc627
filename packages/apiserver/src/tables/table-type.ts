/** The compact form of the types of built-in kinds, which `packages/apiserver/scripts/generate.ts` writes. */

/** One Go struct. */
export interface TypeRow {
  /** The name, as decoding errors show it. */
  readonly n: string;
  /** The fields in Go's order. */
  readonly f: Readonly<Record<string, FieldRow>>;
  /** The map type. */
  readonly m?: string;
  /** The required fields. */
  readonly q?: readonly string[];
  /** The way in which the type decodes itself; absent for most types. */
  readonly s?: string;
}

/** One field of a struct, or the content of a list or map. */
export interface FieldRow {
  /** String, integer, number, boolean, array or object; empty for any value. */
  readonly t?: "s" | "i" | "n" | "b" | "a" | "o" | "";
  /** The index of a type, in place of `t`. */
  readonly r?: number;
  /** The format. */
  readonly f?: string;
  /** The items of a list. */
  readonly i?: FieldRow;
  /** The values of a map. */
  readonly a?: FieldRow;
  /** The default. */
  readonly d?: unknown;
  /** The enumerated values. */
  readonly e?: readonly string[];
  /** The list type. */
  readonly l?: "atomic" | "set" | "map";
  /** The list-map keys. */
  readonly k?: readonly string[];
  /** The map type. */
  readonly m?: string;
  /** The patch strategies, separated by commas. */
  readonly p?: string;
  /** The patch merge key. */
  readonly g?: string;
  /** The field's Go type without the pointer, when it differs from the plain one of `t` and `f`. */
  readonly x?: string;
  /** Whether it is a pointer. */
  readonly y?: 1;
  /** Whether it is omitted when empty (1) or when zero (2). */
  readonly o?: 1 | 2;
}

export interface TypeTable {
  readonly types: readonly TypeRow[];
  /** Maps `group/version/kind` to the index of its type. */
  readonly kinds: Readonly<Record<string, number>>;
}
