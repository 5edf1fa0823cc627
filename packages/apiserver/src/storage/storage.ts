/** Stores all objects of the server under one increasing resource version. */
import type { KubeObject } from "../hooks.ts";
import { internalError } from "../status.ts";
import { Collection } from "./collection.ts";
import { Compaction } from "./compaction.ts";
import type { HistoryLimits } from "./history-limits.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import { type EventType, Stored, StoreEvent } from "./stored.ts";

export interface StorageOptions {
  /** The journal in which changes are stored. @default none: everything is lost with the process */
  readonly journal?: Journal | undefined;
  readonly history?: Partial<HistoryLimits> | undefined;
  /** The current time in milliseconds. */
  readonly now: () => number;
}

/**
 * Collections, versions and commits.
 *
 * A write is visible to other writes at once. Once it is in the journal, it is announced and `committed()` resolves.
 * All writes of one turn of the event loop share one commit.
 */
export class Storage {
  readonly #collections = new Map<string, Collection>();
  readonly #journal: Journal | undefined;
  readonly #limits: HistoryLimits;
  readonly #now: () => number;
  readonly #compaction: Compaction;
  #version = 1;
  /** The version that the journal was given last. */
  #journaled: number;
  #pending: JournalEntry[] = [];
  #commit: Promise<void> | undefined;
  readonly #followers = new Set<(event: StoreEvent) => void>();
  #problem: string | undefined;
  #closed = false;

  constructor({ journal, history, now }: StorageOptions) {
    this.#journal = journal;
    this.#limits = { count: history?.count ?? 10_000, age: history?.age ?? 5 * 60_000 };
    this.#now = now;
    const { version, objects } = journal?.load() ?? { version: 0, objects: [] };
    this.#version = Math.max(1, version);
    this.#journaled = this.#version;
    for (const { collection, stored } of objects) this.collection(collection).restore(stored);
    const compacted = journal === undefined ? 0 : this.#version;
    this.#compaction = new Compaction(this.#limits.age, { now: now(), version: this.#version, compacted });
  }

  /** The version of the last write. */
  get version(): number {
    return this.#version;
  }

  collection(name: string): Collection {
    const known = this.#collections.get(name);
    if (known !== undefined) return known;
    // History begins with the storage: a collection without changes since then has a complete history.
    const compacted = this.#journal === undefined ? 0 : this.#version;
    const collection = new Collection(name, { limits: this.#limits, compacted });
    this.#collections.set(name, collection);
    return collection;
  }

  /** Reports every existing object, then every change in any collection. @returns a function that ends it. */
  follow(follower: (event: StoreEvent) => void): () => void {
    for (const collection of this.#collections.values()) {
      for (const stored of collection.all()) follower(new StoreEvent("ADDED", stored, { previous: undefined, at: 0 }));
    }
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /** Stores the object with the next version; the object must not change any more. */
  put(collection: Collection, key: string, object: KubeObject): Stored {
    const previous = collection.get(key);
    const { version, at } = this.#next();
    object.metadata.resourceVersion = String(version);
    return this.#change(collection, previous === undefined ? "ADDED" : "MODIFIED", {
      stored: new Stored(key, version, { object }),
      previous,
      at,
    });
  }

  /** Removes the object. @returns its last state, with the version of the deletion. */
  remove(collection: Collection, key: string): Stored | undefined {
    const previous = collection.get(key);
    if (previous === undefined) return undefined;
    const { version, at } = this.#next();
    const last = previous.object;
    const object = { ...last, metadata: { ...last.metadata, resourceVersion: String(version) } };
    return this.#change(collection, "DELETED", { stored: new Stored(key, version, { object }), previous, at });
  }

  /**
   * Resolves when every write so far survives the process; `undefined` when each already does.
   *
   * @throws StatusError 500 when they could not be stored, after reverting them.
   */
  committed(): Promise<void> | undefined {
    return this.#commit;
  }

  /** Lets versions expire that are too old by now. Lists begin with it, and so does every write. */
  expire(at: number = this.#now()): void {
    const version = this.#compaction.advance(at, this.#version);
    if (version === this.#version) return;
    this.#version = version;
    // A version that a client has seen is not given to a write after a restart.
    if (this.#journal !== undefined) this.#scheduleCommit();
  }

  /** Whether the state at this version is forgotten, because of its age or of the number of changes since then. */
  isExpired(collection: Collection, version: number): boolean {
    return version < Math.max(collection.history.compacted, this.#compaction.compacted);
  }

  /** Resolves when every write so far is stored or reverted, for callers that only read. */
  settled(): Promise<void> | undefined {
    return this.#commit?.catch(() => {});
  }

  /** Why the last write could not be stored; `undefined` when it was. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Forgets the changes up to a version; a watch or a list from before it gets 410. @default every change */
  compact(version: number = this.#version): void {
    this.#compaction.compacted = Math.max(this.#compaction.compacted, version);
    for (const collection of this.#collections.values()) collection.history.compact(version);
  }

  close(): void {
    try {
      this.#flush();
    } finally {
      this.#closed = true;
      this.#journal?.close();
    }
  }

  /** Returns the time and the version of a write. */
  #next(): { readonly version: number; readonly at: number } {
    const at = this.#now();
    this.expire(at);
    return { version: (this.#version += 1), at };
  }

  #change(
    collection: Collection,
    type: EventType,
    { stored, previous, at }: { stored: Stored; previous: Stored | undefined; at: number },
  ): Stored {
    const event = new StoreEvent(type, stored, { previous, at });
    collection.apply(event);
    if (this.#journal === undefined) {
      this.#announce(collection, event);
      return stored;
    }
    this.#pending.push({ collection: collection.name, event });
    this.#scheduleCommit();
    return stored;
  }

  #scheduleCommit(): void {
    this.#commit ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          this.#flush();
          resolve();
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
    // Nobody waits for the server's own writes.
    this.#commit.catch(() => {});
  }

  #flush(): void {
    const entries = this.#pending;
    this.#pending = [];
    this.#commit = undefined;
    if (this.#version === this.#journaled || this.#closed) return;
    this.#journaled = this.#version;
    try {
      this.#journal?.append(entries, this.#version);
      this.#problem = undefined;
    } catch (error) {
      for (const { collection, event } of entries.toReversed()) this.collection(collection).revert(event);
      this.#problem = `cannot keep what is written: ${error instanceof Error ? error.message : String(error)}`;
      throw internalError(this.#problem);
    }
    for (const { collection, event } of entries) this.#announce(this.collection(collection), event);
  }

  #announce(collection: Collection, event: StoreEvent): void {
    collection.announce(event);
    for (const follower of this.#followers) follower(event);
  }
}
