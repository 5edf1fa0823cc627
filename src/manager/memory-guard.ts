/**
 * Keeps a process below the limit of its memory, as far as that is possible, and says in time that it will be killed.
 *
 * The runtime does not know the limit: garbage may grow until the kernel ends the process. So the guard measures the
 * memory that counts towards the limit, more often the less is left, and collects garbage in time.
 */
import type { InformerRegistry } from "../cache/informer-registry.ts";
import type { ListRoom } from "../kube/api/list-room.ts";
import { MOST_BYTES } from "../kube/api/page-size.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import { type Clock, monotonic, sleep } from "../platform/clock.ts";
import type { MemoryLimit } from "../platform/memory-limit.ts";
import type { HealthChecks, HealthReport } from "../server/health-checks.ts";
import { collectGarbage } from "#runtime/collect-garbage";

export interface MemoryGuardOptions {
  readonly limit: MemoryLimit;
  readonly log: Log;
  /** @default collects the runtime's garbage */
  readonly collect?: (() => void) | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

/** The displays of the state of memory, and the informers, which use most of it. */
export interface MemoryDisplay {
  readonly metrics: Metrics;
  readonly health: { readonly readyz: HealthChecks };
  readonly informers: Pick<InformerRegistry, "all">;
}

const MIB = 2 ** 20;
/**
 * The least limit within which a process can run: it uses 35 MiB without any object, and as much again for the parts of
 * the executable that it always needs.
 */
const LEAST_LIMIT = 64 * MIB;
const LOOK_SOON_FROM = 0.5;
/** The part of the limit above which garbage is collected. */
const COLLECT_FROM = 0.75;
/** The part above which the process warns that it may be killed, and below which it may warn again. */
const WARN_FROM = 0.9;
const WARN_AGAIN_BELOW = 0.8;
/** The part above which large lists and watches end, so that the process and its other work can continue. */
const FULL_FROM = 0.95;
/**
 * The part of the limit after which another check is due when watches have brought it; stored objects take several
 * times as much.
 */
const LOOK_AFTER = 1 / 1024;
/** Another collection waits until memory has grown by this part of the limit, because what is in use stays. */
const GROWTH = 1 / 32;
/** The pause after a collection, as a multiple of its duration, so that collections never take most of the time. */
const REST = 3;
/** Milliseconds between two looks: while less than half is in use, less than three quarters, and more. */
const LOOK_MS = 1_000;
const LOOK_SOON_MS = 250;
const LOOK_CLOSELY_MS = 50;
/** The runtime gives memory back some milliseconds after a collection; a list waits for it at most this often. */
const PAUSE_MS = 50;
const MOST_PAUSES = 10;
/** The part of the limit that one page of a list may take, or one response that is read as a whole. */
const PAGE_PART = 1 / 64;
const ANSWER_PART = 1 / 8;
/** The bytes of the limit for which one more list may run at a time, because each list holds a page or two. */
const LIMIT_PER_LIST = 128 * MIB;
const MOST_LISTS = 4;
/** How many informers a warning names. */
const NAMED = 3;

export class MemoryGuard implements ListRoom, Disposable {
  readonly pageBytes: number;
  readonly answerBytes: number;
  readonly lists: number;
  readonly #limit: MemoryLimit;
  readonly #log: Log;
  readonly #collect: () => void;
  readonly #clock: Clock;
  #informers: Pick<InformerRegistry, "all"> | undefined;
  #timer: Disposable;
  /** The bytes in use after the last collection, or fewer if the process has since used less. */
  #least = 0;
  #collectFrom = -Infinity;
  #isShort = false;
  #isFull = false;
  /** The bytes that watches have brought since the last look that they caused. */
  #brought = 0;
  readonly #lookAfter: number;
  #warnings = 0;
  #collections = 0;

  /** Begins to look at once, and says so if the process can hardly run within the limit. */
  constructor({ limit, log, collect = collectGarbage, clock }: MemoryGuardOptions) {
    this.#limit = limit;
    this.#log = log;
    this.#collect = collect;
    this.#clock = monotonic(clock);
    this.pageBytes = Math.min(MOST_BYTES, limit.bytes * PAGE_PART);
    this.#lookAfter = limit.bytes * LOOK_AFTER;
    this.answerBytes = limit.bytes * ANSWER_PART;
    this.lists = Math.max(1, Math.min(MOST_LISTS, Math.floor(limit.bytes / LIMIT_PER_LIST)));
    if (limit.bytes < LEAST_LIMIT) {
      const about = { limit: mib(limit.bytes), needed: mib(LEAST_LIMIT), from: limit.source };
      log.error("The memory limit is too low: the kernel will probably kill this process. Raise the limit", about);
    }
    this.#timer = this.#clock.setTimeout(() => this.#look(), LOOK_MS);
  }

  /** Adds its measurements to the metrics and to `/readyz?verbose`, and gets the informers, which use the memory. */
  show({ metrics, health, informers }: MemoryDisplay): void {
    this.#informers = informers;
    metrics.add({
      name: "binnacle_memory_limit_bytes",
      help: "The limit of the memory that this process, or its container, may take",
      read: () => this.#limit.bytes,
    });
    metrics.add({
      name: "binnacle_memory_used_bytes",
      help: "What counts towards the limit and cannot be taken back by the kernel",
      read: () => this.#limit.used(),
    });
    metrics.add({
      name: "binnacle_memory_collections_total",
      help: "Number of times that garbage was collected because the limit was near",
      type: "counter",
      read: () => this.#collections,
    });
    metrics.add({
      name: "binnacle_memory_warnings_total",
      help: "Number of times that the limit was so near that the process may be killed",
      type: "counter",
      read: () => this.#warnings,
    });
    health.readyz.note("memory", () => this.#note());
  }

  make(signal?: AbortSignal): Promise<void> | undefined {
    if (this.#check() < this.#limit.bytes * WARN_FROM) return undefined;
    return this.#wait(signal);
  }

  /** The limit in bytes; `undefined` when it is gone. */
  get limit(): number | undefined {
    return this.#limit.bytes === Infinity ? undefined : this.#limit.bytes;
  }

  /** The bytes in use that count towards the limit. */
  used(): number {
    return this.#limit.used();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  brought(bytes: number): void {
    this.#brought += bytes;
    if (this.#brought < this.#lookAfter) return;
    this.#brought = 0;
    this.#check();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #look(): void {
    const part = this.#check() / this.#limit.bytes;
    const pause = part >= COLLECT_FROM ? LOOK_CLOSELY_MS : part >= LOOK_SOON_FROM ? LOOK_SOON_MS : LOOK_MS;
    this.#timer = this.#clock.setTimeout(() => this.#look(), pause);
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    for (let pauses = 0; pauses < MOST_PAUSES; pauses++) {
      await sleep(PAUSE_MS, { clock: this.#clock, signal });
      if (this.#check() < this.#limit.bytes * WARN_FROM) return;
    }
  }

  /** Collects garbage and warns as necessary. @returns the bytes in use. */
  #check(): number {
    const { bytes } = this.#limit;
    let used = this.#limit.used();
    if (used < this.#least) this.#least = used;
    if (used >= bytes * COLLECT_FROM && used - this.#least >= bytes * GROWTH) {
      const began = this.#clock.now();
      if (began >= this.#collectFrom) {
        this.#collect();
        this.#collections++;
        const now = this.#clock.now();
        this.#collectFrom = now + REST * (now - began);
        used = this.#least = this.#limit.used();
      }
    }
    this.#isFull = used >= bytes * FULL_FROM;
    if (used < bytes * WARN_AGAIN_BELOW) {
      if (this.#isShort) this.#log.info("There is enough memory again", { limit: mib(bytes), used: mib(used) });
      this.#isShort = false;
    } else if (used >= bytes * WARN_FROM && !this.#isShort) {
      this.#isShort = true;
      this.#warnings++;
      this.#log.warn(
        "Memory is nearly used up: the kernel kills this process at its limit. Raise the limit, or watch less",
        { ...this.#figures(used), heap: mib(process.memoryUsage().heapUsed), informers: this.#largest() },
      );
    }
    return used;
  }

  #figures(used: number): { readonly limit: string; readonly used: string } {
    return { limit: mib(this.#limit.bytes), used: mib(used) };
  }

  #note(): HealthReport | undefined {
    if (!this.#isShort) return undefined;
    const { limit, used } = this.#figures(this.#limit.used());
    const text = `nearly used up: ${used} of ${limit}`;
    return { cause: text, text };
  }

  #largest(): readonly string[] {
    const informers = [...(this.#informers?.all() ?? [])].sort((a, b) => b.bytes - a.bytes).slice(0, NAMED);
    return informers.map(
      ({ resource, store, bytes, hasSynced }) =>
        `${resource.kind}: ${store.size} objects, ${mib(bytes)}${hasSynced ? "" : ", still listing"}`,
    );
  }
}

function mib(bytes: number): string {
  return bytes === Infinity ? "none" : `${Math.round(bytes / MIB)} MiB`;
}
