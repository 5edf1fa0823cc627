/** Series of Events: repeated Events become one Event with a count. */
import type { WriteGate } from "../kube/transport/write-gate.ts";
import type { Clock } from "../platform/clock.ts";
import type { EventIdentity } from "./event.ts";

/** An Event and its repetitions. */
export interface EventSeries {
  readonly identity: EventIdentity;
  /** Checked before the Event is sent. */
  readonly gate: WriteGate;
  /** The first occurrence in milliseconds since the epoch; so are the times below. */
  readonly first: number;
  last: number;
  count: number;
  /** The count that the server has; 0 before the Event was created. */
  sent: number;
  /** The count that was last sent to the server, whether it accepted or rejected it. */
  reported: number;
  toldAt: number;
  /** `again` means that an occurrence during the request must be sent too. */
  sending: "no" | "waiting" | "in flight" | "again";
}

/** A series without an occurrence for this long is over: its count is sent a last time, and the series is forgotten. */
const FINISH_AFTER = 6 * 60_000;
/** A series that continues is sent at this interval. */
const REFRESH_AFTER = 30 * 60_000;
/** The maximum number of series; beyond it the least recently used one is finished early. */
const MAX_SERIES = 4096;

/** The active series, the least recent first. */
export class SeriesCache {
  readonly #clock: Clock;
  readonly #finish: (series: EventSeries) => void;
  readonly #series = new Map<string, EventSeries>();
  #timer: Disposable | undefined;

  constructor(options: { clock: Clock; finish: (series: EventSeries) => void }) {
    this.#clock = options.clock;
    this.#finish = options.finish;
  }

  /** Counts one more occurrence, if the series exists. */
  repeat(key: string): EventSeries | undefined {
    const series = this.#series.get(key);
    if (series === undefined) return undefined;
    series.count++;
    series.last = this.#clock.now();
    this.#series.delete(key);
    this.#series.set(key, series);
    return series;
  }

  start(identity: EventIdentity, gate: WriteGate): EventSeries {
    const now = this.#clock.now();
    const series: EventSeries = {
      identity,
      gate,
      first: now,
      last: now,
      count: 1,
      sent: 0,
      reported: 0,
      toldAt: now,
      sending: "no",
    };
    this.#series.set(identity.key, series);
    if (this.#series.size > MAX_SERIES) this.#end(this.#series.values().next().value!);
    this.#arm();
    return series;
  }

  forget(series: EventSeries): void {
    if (this.#series.get(series.identity.key) === series) this.#series.delete(series.identity.key);
  }

  values(): Iterable<EventSeries> {
    return this.#series.values();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#series.clear();
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    const oldest = this.#series.values().next().value;
    if (oldest === undefined) return;
    const wait = Math.max(0, oldest.last + FINISH_AFTER - this.#clock.now());
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      this.#finishOld();
      this.#arm();
    }, wait);
  }

  #finishOld(): void {
    const before = this.#clock.now() - FINISH_AFTER;
    for (const series of this.#series.values()) {
      if (series.last > before) return;
      this.#end(series);
    }
  }

  #end(series: EventSeries): void {
    this.#series.delete(series.identity.key);
    this.#finish(series);
  }
}

/**
 * Whether the count must be sent: the second occurrence at once, later ones with the next refresh or at the end, even
 * after a rejection.
 */
export function isDue({ count, reported: told, toldAt }: EventSeries, now: number): boolean {
  return count > told && (told <= 1 || now - toldAt >= REFRESH_AFTER);
}
