/** The messages between the soak and its operator. */

export type Question = "usage" | "classes" | "state" | "stop";

export interface Usage {
  /** Bytes after a forced collection, without compiled code. */
  readonly heap: number;
  /** Bytes of compiled code. */
  readonly code: number;
  readonly resident: number;
}

export interface State {
  /** What the informers hold, by kind and key. */
  readonly stores: Readonly<
    Record<string, Readonly<Record<string, { readonly version: string; readonly uid: string }>>>
  >;
  /** The version that a run last saw, by kind and key. */
  readonly reconciled: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly relists: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Objects that a handler saw in an older state than before. */
  readonly backwards: readonly string[];
  readonly synced: boolean;
}

export interface Answer {
  readonly ready?: true;
  readonly usage?: Usage;
  readonly state?: State;
  /** Bytes of the heap by class of object. */
  readonly classes?: Readonly<Record<string, number>>;
  /** What kept the process running, before it began and after it stopped. */
  readonly stopped?: { readonly before: string; readonly after: string };
}
