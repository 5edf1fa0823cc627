/** The entries of a queue in one map by key: at most one that is queued and one that a worker has. */
import { Entry } from "./queue-item.ts";

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

  /** Whether a worker has the key. */
  isRunning(key: string): boolean {
    return this.#entries.get(key)?.state === "running";
  }

  /** The queued entry of a key; it is created if there is none. */
  queue(key: string, priority: number): Entry {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const made = new Entry(key, priority);
      this.#entries.set(key, made);
      this.#queued++;
      return made;
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

  /** The entries that workers have. Walks all entries. */
  *values(): Generator<Entry> {
    for (const entry of this.#entries.values()) if (entry.state === "running") yield entry;
  }
}
