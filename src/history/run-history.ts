/** The latest runs of this process, in a bounded number of bytes. */
import { type Clock, monotonic } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { authorOf, type EventOrigin, EventOrigins, pathsOf } from "./event-origins.ts";
import type { ChangedBy, LogLine, RunAnswer, RunRef } from "./run-answer.ts";
import type { RunTraces } from "./traces.ts";
import { type RecordKeeper, type RunBeginning, RunRecord } from "./run-record.ts";
import { SeenSecrets } from "./seen-secrets.ts";

export interface RunHistoryOptions {
  /** The most bytes of all records together. */
  readonly bytes: number;
  readonly clock: Clock;
  /** The name of this process among its replicas. */
  readonly replica: string;
  /** Makes spans of the runs. @default none */
  readonly traces?: RunTraces | undefined;
  /** Whether runs are recorded that nobody traces. @default true */
  readonly recordsAll?: boolean | undefined;
}

export interface RunHistoryStats {
  readonly runs: number;
  readonly bytes: number;
  readonly limit: number;
  /** How many runs made room for newer ones. */
  readonly dropped: number;
  /** When recording began. */
  readonly since: string;
}

/** The part of an object's identity by which runs are found; an absent field matches everything. */
export interface RunFilter {
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly controller?: string | undefined;
  readonly key?: string | undefined;
}

/** One run may use a part in this many of the memory, but at least `LEAST_PART` bytes. */
const PART = 32;
const LEAST_PART = 16_384;

/**
 * **Guarantees.** The estimated size of all records never exceeds the limit; the oldest ended runs make room. Values of
 * Secrets and of sensitive fields are never stored.
 */
export class RunHistory {
  readonly #options: RunHistoryOptions;
  readonly #clock: Clock;
  readonly #recordsAll: boolean;
  readonly #active = new Map<string, RunRecord>();
  /** The ended runs, the one that ended first at the front. */
  readonly #ended = new Map<string, RunRecord>();
  readonly #origins = new EventOrigins();
  readonly #secrets = new SeenSecrets();
  readonly #endListeners = new Set<(run: RunAnswer) => void>();
  readonly #lineListeners = new Set<(line: LogLine, run: RunRef) => void>();
  readonly #since: string;
  /** Tells the runs of this process from those of an earlier one. */
  readonly #prefix: string;
  #at = -1;
  #atText = "";
  #count = 0;
  #bytes = 0;
  #dropped = 0;
  readonly #keeper: RecordKeeper;

  constructor(options: RunHistoryOptions) {
    const { clock, recordsAll = true } = options;
    this.#options = options;
    this.#recordsAll = recordsAll;
    this.#clock = clock;
    this.#since = this.#time(clock.now());
    this.#prefix = Math.floor(clock.now() / 1_000).toString(36);
    const elapsed = monotonic(clock);
    this.#keeper = {
      now: () => clock.now(),
      time: (at) => this.#time(at),
      elapsed: () => elapsed.now(),
      clean: (text) => this.clean(text),
      reserve: (bytes, used) => this.#reserve(bytes, used),
      wrote: (object, by, run) => this.#origins.set(object, { at: clock.now(), by, run }),
      deleted: (kind, uid, run) => this.#origins.setDeleted(kind, uid, { at: clock.now(), run }),
      sees: (resource, content) => this.#secrets.add(resource, content),
      ended: (record) => this.#onEnd(record),
      said: (line, run) => {
        for (const listener of this.#lineListeners) listener(line, run);
      },
    };
  }

  /** Begins the record of a run; `undefined` when this run is not recorded. */
  begin(about: Omit<RunBeginning, "id" | "replica" | "at">): RunRecord | undefined {
    const id = `${this.#prefix}-${++this.#count}`;
    const { replica, traces } = this.#options;
    const at = this.#time(this.#clock.now());
    const span = traces?.begin({ ...about, at });
    if (!this.#recordsAll && span === undefined) return undefined;
    const record = new RunRecord(this.#keeper, { ...about, id, replica, at, span });
    this.#active.set(id, record);
    return record;
  }

  /**
   * Notes an event before its object is reduced.
   *
   * @param isPartial whether nothing but metadata is known of the object.
   */
  event(object: AnyObject, old: AnyObject | undefined, isPartial: boolean): void {
    if (!this.#recordsAll) return; // a span links to the run that wrote an object, and names no other author
    try {
      const author = authorOf(object, old);
      const by = author && changedBy(author);
      const paths = isPartial && old !== undefined && author?.fieldsV1 ? pathsOf(author.fieldsV1) : undefined;
      this.#origins.set(object, { at: this.#clock.now(), by, paths });
    } catch {
      // Managed fields that nobody can read say nothing about the origin.
    }
  }

  /** Returns the origin of a state of an object, or of its deletion. An unknown one has the present time alone. */
  originOf(object: AnyObject, type: string): EventOrigin {
    return this.#origins.of(object, type === "delete") ?? { at: this.#clock.now() };
  }

  /** The runs, newest first; those under way come before the ended ones. */
  *runs(filter: RunFilter = {}): Generator<RunAnswer> {
    for (const runs of [this.#active, this.#ended]) {
      for (const run of [...runs.values()].reverse()) if (isMeant(run, filter)) yield run;
    }
  }

  run(id: string): RunAnswer | undefined {
    return this.#active.get(id) ?? this.#ended.get(id);
  }

  /** Returns a text without the sensitive values that runs have seen lately, and those of the configuration. */
  clean(text: string): string {
    return this.#secrets.clean(text);
  }

  /** Calls the listener with each run that ends. */
  onEnd(listener: (run: RunAnswer) => void): Disposable {
    this.#endListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#endListeners.delete(listener) };
  }

  /** Calls the listener with each line that a run logs. */
  onLine(listener: (line: LogLine, run: RunRef) => void): Disposable {
    this.#lineListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#lineListeners.delete(listener) };
  }

  get stats(): RunHistoryStats {
    return {
      runs: this.#active.size + this.#ended.size,
      bytes: this.#bytes,
      limit: this.#options.bytes,
      dropped: this.#dropped,
      since: this.#since,
    };
  }

  /** Writes a time. Equal times come one after another, and share a text. */
  #time(at: number): string {
    if (at !== this.#at) {
      this.#at = at;
      this.#atText = new Date(at).toISOString();
    }
    return this.#atText;
  }

  #reserve(bytes: number, used: number): boolean {
    const { bytes: limit } = this.#options;
    if (used > 0 && used + bytes > Math.max(limit / PART, LEAST_PART)) return false;
    while (this.#bytes + bytes > limit && this.#ended.size > 0) {
      const [oldest] = this.#ended.values();
      this.#ended.delete(oldest!.id);
      this.#bytes -= oldest!.bytes;
      this.#dropped++;
    }
    if (used > 0 && this.#bytes + bytes > limit) return false;
    this.#bytes += bytes;
    return true;
  }

  #onEnd(record: RunRecord): void {
    this.#active.delete(record.id);
    if (this.#recordsAll) this.#ended.set(record.id, record);
    else this.#bytes -= record.bytes; // a span has what was recorded, and nobody else asks
    this.#reserve(0, 0);
    for (const listener of this.#endListeners) listener(record);
  }
}

function changedBy({ manager = "", operation = "", subresource, time }: ChangedByEntry): ChangedBy {
  return { manager, operation, subresource, at: time };
}

type ChangedByEntry = NonNullable<ReturnType<typeof authorOf>>;

function isMeant({ object, controller, key }: RunAnswer, filter: RunFilter): boolean {
  if (filter.controller !== undefined && filter.controller !== controller) return false;
  if (filter.key !== undefined && filter.key !== key) return false;
  if (filter.kind === undefined && filter.name === undefined) return true;
  if (object === undefined) return false;
  const { group = object.group, kind = object.kind, name = object.name } = filter;
  const { namespace = object.namespace } = filter;
  return group === object.group && kind === object.kind && name === object.name && namespace === object.namespace;
}
