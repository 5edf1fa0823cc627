/** The metrics of webhooks, with controller-runtime's names. */
import type { Readable } from "./exposition.ts";
import {
  type Family,
  HistogramFamily,
  type HistogramSeries,
  type Labels,
  NumberFamily,
  type Series,
} from "./series.ts";

/** What one path of the webhook listener reports. */
export interface WebhookPathMetrics extends Disposable {
  readonly inFlight: Series;
  /** Seconds from the end of the request's headers to the response. */
  readonly latency: HistogramSeries;
  /** Counts a response by its HTTP status. */
  answered(status: number): void;
}

/** In seconds; Prometheus' own default. */
const LATENCY_BOUNDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type AdmissionResult = "allowed" | "denied" | "error";

export class WebhookFamilies {
  readonly requests: NumberFamily = new NumberFamily(
    {
      name: "controller_runtime_webhook_requests_total",
      help: "Total number of admission requests by HTTP status code.",
    },
    "counter",
  );
  readonly latency: HistogramFamily = new HistogramFamily({
    name: "controller_runtime_webhook_latency_seconds",
    help: "Histogram of the latency of processing admission requests",
    bounds: LATENCY_BOUNDS,
  });
  readonly inFlight: NumberFamily = new NumberFamily(
    {
      name: "controller_runtime_webhook_requests_in_flight",
      help: "Current number of admission requests being served.",
    },
    "gauge",
  );
  readonly panics: NumberFamily = new NumberFamily(
    { name: "controller_runtime_webhook_panics_total", help: "Total number of webhook panics" },
    "counter",
  );
  readonly admissions: NumberFamily = new NumberFamily(
    {
      name: "binnacle_webhook_admissions_total",
      help: "Number of answers of each webhook, by operation and result: allowed, denied, or error when its code threw or was late",
    },
    "counter",
  );
  readonly #panics: Series = this.panics.series({});

  get families(): readonly Readable[] {
    return [this.requests, this.latency, this.inFlight, this.panics, this.admissions];
  }

  /** Returns the series of one path, which start at 0 and exist until they are disposed of. */
  path(webhook: string): WebhookPathMetrics {
    return new PathSeries(this, webhook);
  }

  /** Counts an exception in an author's code. */
  panicked(): void {
    this.#panics.value++;
  }

  /** Returns the series of one webhook's results. */
  results(webhook: string): WebhookResults {
    return new WebhookResults(this.admissions, webhook);
  }
}

class PathSeries implements WebhookPathMetrics {
  readonly inFlight: Series;
  readonly latency: HistogramSeries;
  readonly #families: WebhookFamilies;
  readonly #webhook: string;
  readonly #byStatus = new Map<number, Series>();
  readonly #release: (() => void)[] = [];

  constructor(families: WebhookFamilies, webhook: string) {
    this.#families = families;
    this.#webhook = webhook;
    this.inFlight = this.#take(families.inFlight, { webhook });
    this.latency = this.#take(families.latency, { webhook });
    this.#status(200);
    this.#status(500);
  }

  answered(status: number): void {
    (this.#byStatus.get(status) ?? this.#status(status)).value++;
  }

  #status(status: number): Series {
    const series = this.#take(this.#families.requests, { webhook: this.#webhook, code: String(status) });
    this.#byStatus.set(status, series);
    return series;
  }

  #take<S extends { readonly labels: Labels }>(family: Family<S>, labels: Labels): S {
    const series = family.series(labels);
    this.#release.push(() => family.release(series));
    return series;
  }

  [Symbol.dispose](): void {
    for (const release of this.#release.splice(0)) release();
  }
}

/** Counts the results of one webhook. */
export class WebhookResults implements Disposable {
  readonly #family: NumberFamily;
  readonly #webhook: string;
  readonly #series = new Map<string, Series>();

  constructor(family: NumberFamily, webhook: string) {
    this.#family = family;
    this.#webhook = webhook;
  }

  count(operation: string, result: AdmissionResult): void {
    const key = `${operation} ${result}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      series = this.#family.series({ webhook: this.#webhook, operation, result });
      this.#series.set(key, series);
    }
    series.value++;
  }

  [Symbol.dispose](): void {
    for (const series of this.#series.values()) this.#family.release(series);
    this.#series.clear();
  }
}
