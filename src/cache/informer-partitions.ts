/** The parts of an informer: one list and watch for each of its namespaces, or one for all of them. */
import { compareVersions } from "../resource/meta.ts";
import type { Feed } from "./feed.ts";
import { worstOf, type InformerState } from "./informer-state.ts";
import type { Reflector } from "./reflector.ts";

/** What a part is made of. */
export interface PartMakings {
  readonly feed: Feed;
  readonly reflector: Reflector;
}

export interface InformerPartsOptions {
  /** Makes the part of a namespace; empty for all. */
  readonly make: (namespace: string, onStatus: (status: InformerState) => void) => PartMakings;
  /** The state of a part has changed. */
  readonly onStatus: () => void;
}

interface Part extends PartMakings {
  status: InformerState;
  /** What came while the others were at work is not waited for before it has listed once. */
  awaited: boolean;
  readonly stopping: AbortController;
  running: Promise<void> | undefined;
}

export class InformerParts {
  readonly #options: InformerPartsOptions;
  readonly #parts = new Map<string, Part>();
  readonly #ending = new Set<Promise<void>>();
  #started = false;

  constructor(options: InformerPartsOptions) {
    this.#options = options;
  }

  has(namespace: string): boolean {
    return this.#parts.has(namespace);
  }

  /** Sorted. */
  get namespaces(): readonly string[] {
    return [...this.#parts.keys()].sort();
  }

  get feeds(): Iterable<Feed> {
    return this.#parts.values().map(({ feed }) => feed);
  }

  feed(namespace: string): Feed | undefined {
    return this.#parts.get(namespace)?.feed;
  }

  /** The worst of all; that of none is fine. */
  get state(): InformerState {
    return this.#parts.size === 0 ? { kind: "watching" } : worstOf(this.#parts.values().map(({ status }) => status));
  }

  /** Everything that is waited for has been listed. */
  get synced(): boolean {
    let synced = true;
    for (const part of this.#parts.values()) {
      part.awaited ||= part.feed.synced;
      if (part.awaited && !part.feed.synced) synced = false;
    }
    return synced;
  }

  /** What all that is waited for meets of the growing needs. */
  get needsMet(): number {
    let least = Infinity;
    for (const { awaited, feed } of this.#parts.values()) if (awaited) least = Math.min(least, feed.needsMet);
    return least;
  }

  /** Of the least current one. */
  get resourceVersion(): string {
    let least: string | undefined;
    for (const { feed } of this.#parts.values()) {
      if (least === undefined || compareVersions(feed.resourceVersion, least) < 0) least = feed.resourceVersion;
    }
    return least ?? "";
  }

  /** @param awaited whether nothing has synced before this has. */
  add(namespace: string, awaited: boolean): void {
    const makings = this.#options.make(namespace, (status) => {
      part.status = status;
      this.#options.onStatus();
    });
    const part: Part = {
      ...makings,
      status: { kind: "starting" },
      awaited,
      stopping: new AbortController(),
      running: undefined,
    };
    this.#parts.set(namespace, part);
    if (this.#started) run(part);
  }

  /** Ends a part; its objects leave the store, and handlers are told. */
  remove(namespace: string): void {
    const part = this.#parts.get(namespace);
    if (part === undefined) return;
    this.#parts.delete(namespace);
    end(part);
    const ending = (part.running ?? Promise.resolve()).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    part.feed.vanish();
  }

  /** Begins to list and watch; later calls do nothing. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    for (const part of this.#parts.values()) run(part);
  }

  /** What was dropped before is listed again, where anything has been. */
  relist(): void {
    for (const { feed, reflector } of this.#parts.values()) if (feed.hasTaken) reflector.relist("needs");
  }

  /** Resolves when nothing of it is left running. */
  async stop(): Promise<void> {
    for (const part of this.#parts.values()) end(part);
    await Promise.all([...this.#ending, ...this.#parts.values().map(({ running }) => running)]);
  }
}

function run(part: Part): void {
  part.running = part.reflector.run(part.stopping.signal);
}

function end(part: Part): void {
  part.stopping.abort(new Error("The informer is stopped"));
}
