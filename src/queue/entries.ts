/** The entries of a queue by key: at most one that is queued and one that is being worked on, in one map. */
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

  /** The queued entry of a key, made where there is none: then its `order` is -1. */
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

  /** A queued entry is taken. */
  run(entry: Entry): void {
    entry.state = "running";
    this.#queued--;
    this.#running++;
  }

  /** A key is done: `undefined` when nobody has it. */
  done(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.state !== "running") return undefined;
    this.#running--;
    if (entry.again === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry.again);
    return entry;
  }

  /** Takes a queued entry out. */
  drop({ key }: Entry): void {
    const entry = this.#entries.get(key)!;
    if (entry.state === "running") entry.again = undefined;
    else this.#entries.delete(key);
    this.#queued--;
  }

  /** Takes all that are queued out. */
  dropQueued(): void {
    for (const [key, entry] of this.#entries) {
      if (entry.state === "running") entry.again = undefined;
      else this.#entries.delete(key);
    }
    this.#queued = 0;
  }

  /** Those with a worker; looks through all. */
  *values(): Generator<Entry> {
    for (const entry of this.#entries.values()) if (entry.state === "running") yield entry;
  }
}
