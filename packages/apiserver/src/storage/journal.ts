/** Stores changes, so that they survive a restart. */
import type { Stored, StoreEvent } from "./stored.ts";

/** A change and the collection that it belongs to. */
export interface JournalEntry {
  readonly collection: string;
  readonly event: StoreEvent;
}

export interface Journal {
  /** Loads the last version and all stored objects. */
  load(): { readonly version: number; readonly objects: Iterable<{ collection: string; stored: Stored }> };
  /** Appends changes and the version after them; when it returns, they survive the process. */
  append(entries: readonly JournalEntry[], version: number): void;
  close(): void;
}
