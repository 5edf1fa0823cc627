/** The messages to and from the thread that watches the event loop, whose own file is checked as code of a worker. */

/** The settings of the thread, which the process sends it once. */
export interface StallOrder {
  /** The memory of the marks. */
  readonly memory: SharedArrayBuffer;
  /** Milliseconds after which a stall is reported; 0 for never. */
  readonly warnAfter: number;
  /** Milliseconds after which the process ends; 0 for never. */
  readonly endAfter: number;
  readonly format: "json" | "pretty";
}

/** The report of a stall, which the thread sends to the process. It also has the fields of the mark. */
export interface StallReport {
  readonly seconds: number;
  /** The module whose code blocks the event loop. */
  readonly module?: string | undefined;
  /** The module that probably blocks it, where that is uncertain. */
  readonly likely?: { readonly module?: string | undefined } | undefined;
}
