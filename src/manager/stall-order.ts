/** What the thread that watches the event loop is told. */

export interface StallOrder {
  /** Of the marks. */
  readonly memory: SharedArrayBuffer;
  /** Milliseconds between two beats of the event loop. */
  readonly beatEvery: number;
  /** Milliseconds; 0 for never. */
  readonly warnAfter: number;
  /** Milliseconds; 0 for never. */
  readonly endAfter: number;
  readonly format: "json" | "pretty";
}

/** What the thread says of a stall, besides the fields of a mark. */
export interface StallReport {
  readonly seconds: number;
  /** Whose code has the event loop. */
  readonly module?: string | undefined;
  /** Who has it probably, where that is not certain. */
  readonly likely?: { readonly module?: string | undefined } | undefined;
}
