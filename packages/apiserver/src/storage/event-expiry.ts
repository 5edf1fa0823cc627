/** Deletes events after an hour by default, as etcd's leases do. */
import type { Storage } from "./storage.ts";

const HOUR = 60 * 60_000;

/** The interval between checks in milliseconds. */
const interval = 60_000;

/**
 * Deletes expired events at once and then at intervals.
 *
 * @param lifetime of an event in milliseconds. @default an hour
 * @returns a function that ends it.
 */
export function expireEvents(storage: Storage, now: () => number, lifetime: number = HOUR): () => void {
  sweep(storage, now(), lifetime);
  const timer = setInterval(() => sweep(storage, now(), lifetime), interval);
  timer.unref();
  return () => clearInterval(timer);
}

function sweep(storage: Storage, now: number, lifetime: number): void {
  const events = storage.collection("/events");
  for (const { key, object } of events.all()) {
    const written = object.metadata.creationTimestamp;
    if (written && now - Date.parse(written) > lifetime) storage.remove(events, key);
  }
}
