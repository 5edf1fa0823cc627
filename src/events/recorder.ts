/** Records Kubernetes Events, in `events.k8s.io/v1` only. */
import type { WriteGate } from "../kube/transport/write-gate.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { EventDropReason, Metrics } from "../observe/metrics.ts";
import { abortable } from "../platform/abortable.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { EventSender } from "./event-sender.ts";
import { isDue, SeriesCache } from "./event-series.ts";
import { type EventInput, eventKey, identify, objectKey, type Occurrence, reporterFor } from "./event.ts";

/** Records the Events of one controller; never waits and never throws. */
export interface ControllerRecorder {
  record(regarding: AnyObject, event: EventInput): void;
}

export interface EventRecorderOptions {
  readonly transport: Pick<Transport, "request">;
  readonly gate: WriteGate;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, "eventDropped"> | undefined;
  /** The host's name, which is part of the Events' `reportingInstance`. */
  readonly instance: string;
}

/**
 * Sends Events in the background.
 *
 * **Guarantees.** Recording never blocks or fails a reconcile: at most 1,000 Events wait, further ones are dropped
 * and counted. Equal Events become one with an increasing `series.count`. For one controller and one object, 25
 * different Events are sent at once, then one every 5 minutes.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #limiter: ObjectLimiter;
  readonly #series: SeriesCache;
  readonly #sender: EventSender;
  #dropped = 0;
  /** Set when `close` is called. */
  #closed: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    const { clock, log, transport } = options;
    this.#options = options;
    this.#limiter = new ObjectLimiter(clock);
    this.#sender = new EventSender({
      transport,
      clock,
      log,
      onDrop: (series, reason) => {
        // A rejected Event stays known; otherwise it would be sent as a new one at each occurrence.
        if (reason !== "failed") this.#series.forget(series);
        this.#drop(reason);
      },
    });
    this.#series = new SeriesCache({
      clock,
      finish: (series) => {
        if (series.count > series.sent) this.#sender.send(series);
      },
    });
  }

  /** The number of Events that were not sent. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Returns the recorder of one controller.
   *
   * @param gate checked before each Event is recorded and sent. @default the recorder's
   */
  for(controller: string, gate: WriteGate = this.#options.gate): ControllerRecorder {
    const reporter = reporterFor(controller, this.#options.instance);
    return { record: (regarding, event) => this.#record({ reporter, regarding, event }, gate) };
  }

  /** Waits until all Events so far have been sent or given up. @throws the signal's reason. */
  async flush(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#sendCounts();
    const idle = this.#sender.idle();
    await (signal === undefined ? idle : abortable(idle, signal));
  }

  /** Sends the waiting Events, once and within 5 s, and stops; later Events are dropped. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#sendCounts();
    await this.#sender.close();
    this.#series[Symbol.dispose]();
  }

  #record(occurrence: Occurrence, gate: WriteGate): void {
    if (this.#closed !== undefined) return this.#drop("closed");
    if (gate.refused !== undefined) return this.#drop("refused");
    const ofObject = objectKey(occurrence);
    const key = eventKey(occurrence, ofObject);
    const repeated = this.#series.repeat(key);
    if (repeated !== undefined) {
      // When the queue is full, the count is sent later.
      if (isDue(repeated, this.#options.clock.now()) && !this.#sender.full) this.#sender.send(repeated);
      return;
    }
    if (this.#sender.full) return this.#drop("full");
    if (!this.#limiter.take(ofObject)) return this.#drop("rate");
    this.#sender.send(this.#series.start(identify(occurrence, key), gate));
  }

  #sendCounts(): void {
    for (const series of this.#series.values()) if (series.count > series.sent) this.#sender.send(series);
  }

  #drop(reason: EventDropReason): void {
    this.#dropped++;
    this.#options.metrics?.eventDropped(reason);
  }
}

const BURST = 25;
/** Milliseconds until one more Event is allowed. */
const REFILL = 300_000;
const MAX_OBJECTS = 4096;

interface Bucket {
  tokens: number;
  at: number;
}

/** A token bucket for each reporter and object: 25 at once, then one every 5 minutes, like client-go's spam filter. */
class ObjectLimiter {
  readonly #clock: Clock;
  /** The least recently used first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a token. @returns false when the object has used up its Events. */
  take(objectKey: string): boolean {
    const now = this.#clock.now();
    const bucket = this.#buckets.get(objectKey) ?? { tokens: BURST, at: now };
    bucket.tokens = Math.min(BURST, bucket.tokens + (now - bucket.at) / REFILL);
    bucket.at = now;
    this.#buckets.delete(objectKey);
    this.#buckets.set(objectKey, bucket);
    if (this.#buckets.size > MAX_OBJECTS) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }
}
