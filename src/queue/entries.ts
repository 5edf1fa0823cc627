/** The entries of a queue: keys with their causes, from the time they are added until their run has ended. */
import { EventCause } from "../history/event-cause.ts";
import type { Cause } from "../resource/cause.ts";
import type { ReadyItem } from "./ready-items.ts";

/** All entries by key: for each key at most one that is queued and one that a worker has. */
export class Entries {
  readonly #entries = new Map<string, Entry>();
  #queued = 0;
  #running = 0;

  get queued(): number {
    return this.#queued;
  }

  get running(): number {
    return this.#running;
  }

  /** The queued entry of a key. */
  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry?.state === "running" ? entry.again : entry;
  }

  /** Whether the key is queued, or a worker has it. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Whether a worker has the key. */
  isRunning(key: string): boolean {
    return this.#entries.get(key)?.state === "running";
  }

  /** The queued entry of a key; it is created if there is none. */
  queue(key: string, priority: number): Entry {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const newEntry = new Entry(key, priority);
      this.#entries.set(key, newEntry);
      this.#queued++;
      return newEntry;
    }
    if (entry.state !== "running") return entry;
    if (entry.again === undefined) {
      entry.again = new Entry(key, priority);
      this.#queued++;
    }
    return entry.again;
  }

  /** A worker takes a queued entry. */
  run(entry: Entry): void {
    entry.state = "running";
    this.#queued--;
    this.#running++;
  }

  /** A worker has finished a key. @returns its entry; `undefined` when no worker had the key. */
  done(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.state !== "running") return undefined;
    this.#running--;
    if (entry.again === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry.again);
    return entry;
  }

  /** Removes a queued entry. */
  drop({ key }: Entry): void {
    const entry = this.#entries.get(key)!;
    if (entry.state === "running") entry.again = undefined;
    else this.#entries.delete(key);
    this.#queued--;
  }

  /** The keys that are queued or that workers have. */
  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  /** Removes all queued entries. */
  dropQueued(): void {
    for (const [key, entry] of this.#entries) {
      if (entry.state === "running") entry.again = undefined;
      else this.#entries.delete(key);
    }
    this.#queued = 0;
  }

  /** The entries of all keys. The entry of a running key stands also for its next run. */
  all(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** The entries that workers have. Walks all entries. */
  *values(): Generator<Entry> {
    for (const entry of this.#entries.values()) if (entry.state === "running") yield entry;
  }
}

/** A key that a worker has taken. */
export interface QueueItem {
  readonly key: string;
  readonly priority: number;
  /** The reasons why the key was queued: newest last, at most 8 causes. */
  readonly causes: readonly Cause[];
  /** The number of consecutive failures so far, plus one. */
  readonly attempt: number;
  /** The milliseconds for which the key was ready. */
  readonly waited: number;
}

export interface Parked {
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A key of the queue with its state, for people who examine the process. */
export interface KeyState extends Omit<QueueItem, "waited"> {
  /** A `failing` key waits for its back-off to end, a `delayed` one for another reason. */
  readonly state: "waiting" | "delayed" | "failing" | "running" | "parked";
  /** Milliseconds since the epoch: until when a delayed or failing key waits, since when another one is in its state. */
  readonly at: number;
  /** The reason why it is parked. */
  readonly reason?: string | undefined;
}

const NO_CAUSES: readonly Cause[] = Object.freeze([]);

/**
 * The state of an entry. It is `ready` also while it waits for the run of its key to end; it is in `retry` when its
 * delay is a back-off, which `expedite` ends.
 */
export type EntryState = "ready" | "delayed" | "retry" | "running";

/**
 * A key that is queued or that a worker has. There are many entries: with 8 fields one takes 80 bytes, with 9 it takes
 * 112.
 */
export class Entry implements QueueItem, ReadyItem {
  readonly key: string;
  priority: number;
  state: EntryState = "ready";
  causes: readonly Cause[] = NO_CAUSES;
  /** The position among ready items; for a running entry the attempt. */
  order = 0;
  /** The place among ready items; for a running entry the milliseconds for which it was ready. */
  place = -1;
  /** The time at which a delayed entry becomes ready, or since which another one is ready or running. */
  at = 0;
  /** The additions to a running entry since it was taken. */
  again: Entry | undefined = undefined;

  constructor(key: string, priority: number) {
    this.key = key;
    this.priority = priority;
  }

  get attempt(): number {
    return this.order;
  }

  get waited(): number {
    return this.place;
  }

  get isDelayed(): boolean {
    return this.state === "delayed" || this.state === "retry";
  }
}

/** The maximum number of causes; for a key under constant change the newest are the most useful. */
const MAX_CAUSES = 8;

/**
 * Adds a cause, newest last; one from the same object replaces the earlier one, and knows what both have changed. If
 * there are too many, causes without a value are dropped first.
 */
export function withCause(causes: readonly Cause[] = NO_CAUSES, cause: Cause | undefined): readonly Cause[] {
  if (cause === undefined) return causes;
  if (causes.length === 0) return [cause];
  const merged: Cause[] = [];
  for (const earlier of causes) {
    if (!isSame(earlier, cause)) merged.push(earlier);
    else if (cause instanceof EventCause) cause.follow(earlier);
  }
  if (merged.length === MAX_CAUSES)
    merged.splice(
      Math.max(
        merged.findIndex(({ value }) => value === undefined),
        0,
      ),
      1,
    );
  merged.push(cause);
  return merged;
}

/** Adds the causes of a run whose key runs again; causes since then count as newer. */
export function withEarlier(causes: readonly Cause[] = NO_CAUSES, earlier: readonly Cause[]): readonly Cause[] {
  return causes.reduce<readonly Cause[]>(withCause, earlier);
}

/** Returns the causes that carry a value; `undefined` when none does. */
export function causesWithValues(causes: readonly Cause[]): readonly Cause[] | undefined {
  const some = causes.filter(({ value }) => value !== undefined);
  return some.length === 0 ? undefined : some;
}

function isSame(a: Cause, b: Cause): boolean {
  return (
    a.source === b.source &&
    a.type === b.type &&
    a.kind === b.kind &&
    a.key?.name === b.key?.name &&
    a.key?.namespace === b.key?.namespace
  );
}

/**
 * The causes as text for people: `for Guestbook create default/hello; owns Deployment update default/hello`.
 *
 * @param withPaths whether the text names some of the changed places, which compares states that nobody has compared.
 */
export function causesText(causes: readonly Cause[], withPaths = false): string {
  return causes.map((cause) => (withPaths ? `${causeText(cause)}${pathsText(cause)}` : causeText(cause))).join("; ");
}

/** The most places that a text names. */
const MOST_NAMED = 3;

function pathsText({ paths = [] }: Cause): string {
  if (paths.length === 0) return "";
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  return ` (${paths.slice(0, MOST_NAMED).join(", ")}${more})`;
}

function causeText({ source, type, kind, key }: Cause): string {
  const of = kind === undefined || source.includes(kind) ? "" : ` ${kind}`;
  const name = key === undefined ? "" : ` ${key.namespace === undefined ? "" : `${key.namespace}/`}${key.name}`;
  const what = type === "generic" ? "" : ` ${type}`;
  return `${source}${of}${what}${name}`;
}
