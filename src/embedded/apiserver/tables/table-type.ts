/** The compact form of the types of the built-in kinds; `scripts/generate-tables.ts` writes it. */

/** One struct of Go. */
export interface TypeRow {
  /** Its name, as errors of decoding have it. */
  readonly n: string;
  /** Fields in the order of Go. */
  readonly f: Readonly<Record<string, FieldRow>>;
  /** Map type. */
  readonly m?: string;
  /** Required fields. */
  readonly q?: readonly string[];
  /** Set when it decodes itself: the way it does. */
  readonly s?: string;
}

/** One field of a struct, or what a list or map holds. */
export interface FieldRow {
  /** String, integer, number, boolean, array or object; empty when anything. */
  readonly t?: "s" | "i" | "n" | "b" | "a" | "o" | "";
  /** In place of `t`: the number of a type. */
  readonly r?: number;
  /** Format. */
  readonly f?: string;
  /** What the list holds. */
  readonly i?: FieldRow;
  /** What the map holds. */
  readonly a?: FieldRow;
  /** Default. */
  readonly d?: unknown;
  /** Enum. */
  readonly e?: readonly string[];
  /** List type. */
  readonly l?: "atomic" | "set" | "map";
  /** List-map keys. */
  readonly k?: readonly string[];
  /** Map type. */
  readonly m?: string;
  /** Patch strategies, comma between. */
  readonly p?: string;
  /** Patch merge key. */
  readonly g?: string;
  /** Its Go type without the pointer, where it is not the plain one of `t` and `f`. */
  readonly x?: string;
  /** The embedded structs of Go that lead to it. */
  readonly h?: readonly string[];
  /** It is a pointer. */
  readonly y?: 1;
  /** Left out when empty (1), or when zero (2). */
  readonly o?: 1 | 2;
}

export interface TypeTable {
  readonly types: readonly TypeRow[];
  /** `group/version/kind` → number of its type. */
  readonly kinds: Readonly<Record<string, number>>;
}
