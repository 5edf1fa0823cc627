/** Sends Events one after the other, in the background. */
import { isAlreadyExists, isApiError, isNotFound } from "../kube/errors/api-error.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { EventDropReason } from "../observe/metrics.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import type { EventSeries } from "./event-series.ts";
import { eventBody, seriesBody } from "./event.ts";

export interface EventSenderOptions {
  readonly transport: Pick<Transport, "request">;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when an occurrence was not sent; its series continues nevertheless. */
  readonly onDrop: (series: EventSeries, reason: EventDropReason) => void;
}

const MAX_WAITING = 1000;
const MAX_TRIES = 12;
/** The maximum pause between attempts in milliseconds; the minimum is half of it. */
const RETRY_AFTER = 10_000;
/** How many milliseconds sending may still take after `close`. */
const CLOSE_WITHIN = 5000;

export class EventSender {
  readonly #options: EventSenderOptions;
  readonly #waiting = new Set<EventSeries>();
  /** Ends the pauses between attempts. */
  readonly #closing = new AbortController();
  /** Ends the request in flight. */
  readonly #closed = new AbortController();
  /** The kinds of rejections that were logged, each once and not for each Event. */
  readonly #warned = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(options: EventSenderOptions) {
    this.#options = options;
  }

  get full(): boolean {
    return this.#waiting.size >= MAX_WAITING;
  }

  send(series: EventSeries): void {
    if (series.sending === "in flight") series.sending = "again";
    if (series.sending !== "no") return;
    series.sending = "waiting";
    this.#waiting.add(series);
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is waiting or in flight. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Tries each waiting Event once; drops the rest when the server does not respond, or after 5 s. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The event recorder is closing"));
    using _timer = this.#options.clock.setTimeout(() => this.#closed.abort(this.#closing.signal.reason), CLOSE_WITHIN);
    await this.#running;
  }

  async #run(): Promise<void> {
    // A burst that is recorded at once is complete before its first Event is sent.
    await Promise.resolve();
    for (const series of this.#waiting) {
      this.#waiting.delete(series);
      series.sending = "in flight";
      const reason = await this.#deliver(series);
      const again = series.sending !== "in flight" || series.sent === 1;
      series.sending = "no";
      if (reason !== undefined) this.#options.onDrop(series, reason);
      else if (again && series.count > series.reported) this.send(series);
    }
    this.#running = undefined;
  }

  /** Sends an Event; never throws. @returns why it was given up; `undefined` when it was sent. */
  async #deliver(series: EventSeries): Promise<EventDropReason | undefined> {
    for (let attempt = 1; ; attempt++) {
      if (this.#closed.signal.aborted) return "closed";
      try {
        await this.#write(series);
        return undefined;
      } catch (error) {
        if (series.gate.refused !== undefined) return "refused";
        if (this.#closing.signal.aborted && !isApiError(error)) this.#closed.abort(error);
        if (attempt >= MAX_TRIES || this.#closing.signal.aborted || !isPassing(error)) {
          this.#tell(series, error);
          this.#note(series, series.count);
          return "failed";
        }
        await this.#pause(error);
      }
    }
  }

  async #write(series: EventSeries): Promise<void> {
    const { first, gate, last, count } = series;
    const { identity } = series;
    const path = `/apis/events.k8s.io/v1/namespaces/${identity.namespace}/events`;
    const { transport } = this.#options;
    const signal = this.#closed.signal;
    if (series.sent > 0) {
      try {
        const body = seriesBody({ last, count });
        const contentType = "application/merge-patch+json";
        await transport.request({ method: "PATCH", path: `${path}/${identity.name}`, body, contentType, gate, signal });
        this.#took(series, count);
        return;
      } catch (error) {
        // The Event has expired on the server, so its series continues as a new Event.
        if (!isNotFound(error)) throw error;
      }
    }
    const occurrences = series.reported > 0 ? count : 1;
    try {
      const body = eventBody(identity, { first, last, count: occurrences });
      await transport.request({ method: "POST", path, body, gate, signal });
    } catch (error) {
      // The name is random, so the existing Event is ours, from an attempt whose response was lost.
      if (!isAlreadyExists(error)) throw error;
    }
    this.#took(series, occurrences);
  }

  #took(series: EventSeries, count: number): void {
    series.sent = count;
    this.#note(series, count);
  }

  #note(series: EventSeries, count: number): void {
    series.reported = count;
    series.toldAt = this.#options.clock.now();
  }

  async #pause(error: unknown): Promise<void> {
    const retryAfter = isApiError(error) ? (error.retryAfter ?? 0) * 1000 : 0;
    const wait = Math.max(retryAfter, RETRY_AFTER * (0.5 + Math.random() / 2));
    try {
      await sleep(wait, { clock: this.#options.clock, signal: this.#closing.signal });
    } catch {
      // The recorder is closing, so the next attempt is the last one.
    }
  }

  #tell(series: EventSeries, error: unknown): void {
    const level = isAboutNamespace(error) || this.#warned.has(kindOf(error)) ? "debug" : "warn";
    if (level === "warn") this.#warned.add(kindOf(error));
    this.#options.log[level]("Cannot record an Event: it is dropped", { event: series.identity.name, error });
  }
}

/** Whether the error may be gone at the next attempt. */
function isPassing(error: unknown): boolean {
  return !isApiError(error) || error.code === 429 || error.code >= 500;
}

/** Whether the namespace is gone or being deleted, together with the Event. */
function isAboutNamespace(error: unknown): boolean {
  if (isNotFound(error)) return true;
  return (
    isApiError(error) && error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true
  );
}

function kindOf(error: unknown): string {
  return isApiError(error) ? `${error.verb} ${error.code}` : "unreachable";
}
