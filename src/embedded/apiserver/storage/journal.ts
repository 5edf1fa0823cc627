/** Where changes are kept over a restart. */
import type { Stored, StoreEvent } from "./stored.ts";

/** One change and the collection it belongs to. */
export interface JournalEntry {
  readonly collection: string;
  readonly event: StoreEvent;
}

export interface Journal {
  /** The last version that was given, and everything that was kept. */
  load(): { readonly version: number; readonly objects: Iterable<{ collection: string; stored: Stored }> };
  /** On its return the changes outlive the process. */
  append(entries: readonly JournalEntry[]): void;
  close(): void;
}
