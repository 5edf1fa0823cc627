/** The messages between the process and the thread that watches its event loop. */

export interface StallOrder {
  /** The memory of the marks. */
  readonly memory: SharedArrayBuffer;
  /** In milliseconds; 0 for never. */
  readonly warnAfter: number;
  /** In milliseconds; 0 for never. */
  readonly endAfter: number;
  readonly format: "json" | "pretty";
}

/** What the thread reports about a stall, besides the fields of a mark. */
export interface StallReport {
  readonly seconds: number;
  /** The module whose code blocks the event loop. */
  readonly module?: string | undefined;
  /** The module that probably blocks it, where that is uncertain. */
  readonly likely?: { readonly module?: string | undefined } | undefined;
}
