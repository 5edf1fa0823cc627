/** The metrics of webhooks, with controller-runtime's names. */
import {
  counter,
  type Family,
  gauge,
  HistogramFamily,
  type HistogramSeries,
  type NumberFamily,
  type Series,
} from "./series.ts";

/** The bounds of the histogram in seconds: Prometheus' own default. */
const LATENCY_BOUNDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const RESULTS = ["allowed", "denied", "error"] as const;
export type AdmissionResult = (typeof RESULTS)[number];

export class WebhookFamilies {
  readonly requests: NumberFamily = counter(
    "controller_runtime_webhook_requests_total",
    "Total number of admission requests by HTTP status code.",
  );
  readonly latency: HistogramFamily = new HistogramFamily({
    name: "controller_runtime_webhook_latency_seconds",
    help: "Histogram of the latency of processing admission requests",
    bounds: LATENCY_BOUNDS,
  });
  readonly inFlight: NumberFamily = gauge(
    "controller_runtime_webhook_requests_in_flight",
    "Current number of admission requests being served.",
  );
  readonly panics: NumberFamily = counter("controller_runtime_webhook_panics_total", "Total number of webhook panics");
  readonly admissions: NumberFamily = counter(
    "binnacle_webhook_admissions_total",
    "Number of answers of each webhook, by operation and result: allowed, denied, or error when its code threw or was late",
  );
  readonly #panics = this.panics.series({});

  get families(): readonly Family<Series | HistogramSeries>[] {
    return [this.requests, this.latency, this.inFlight, this.panics, this.admissions];
  }

  /** Returns the metrics of one path, whose series start at 0. */
  path(webhook: string): WebhookPathMetrics {
    return new WebhookPathMetrics(this, webhook);
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

/** The metrics of one path of the webhook listener. The series exist until this is disposed of. */
export class WebhookPathMetrics implements Disposable {
  readonly inFlight: Series;
  /** Seconds from the end of the request's headers to the response. */
  readonly latency: HistogramSeries;
  readonly #requests: NumberFamily;
  readonly #webhook: string;
  readonly #byStatus = new Map<number, Series>();
  readonly #user = new DisposableStack();

  constructor({ inFlight, latency, requests }: WebhookFamilies, webhook: string) {
    this.#requests = requests;
    this.#webhook = webhook;
    this.inFlight = inFlight.series({ webhook }, this.#user);
    this.latency = latency.series({ webhook }, this.#user);
    this.#status(200);
    this.#status(500);
  }

  /** Counts a response by its HTTP status. */
  answered(status: number): void {
    (this.#byStatus.get(status) ?? this.#status(status)).value++;
  }

  #status(status: number): Series {
    const series = this.#requests.series({ webhook: this.#webhook, code: String(status) }, this.#user);
    this.#byStatus.set(status, series);
    return series;
  }

  [Symbol.dispose](): void {
    this.#user.dispose();
  }
}

/** Counts the results of one webhook. */
export class WebhookResults implements Disposable {
  readonly #family: NumberFamily;
  readonly #webhook: string;
  readonly #series = new Map<string, Series>();
  readonly #user = new DisposableStack();

  constructor(family: NumberFamily, webhook: string) {
    this.#family = family;
    this.#webhook = webhook;
  }

  /** Publishes the results of an operation at 0, because the increase of a counter that begins at 1 cannot be seen. */
  expect(operation: string): void {
    for (const result of RESULTS) this.#of(operation, result);
  }

  count(operation: string, result: AdmissionResult): void {
    this.#of(operation, result).value++;
  }

  #of(operation: string, result: AdmissionResult): Series {
    const key = `${operation} ${result}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      series = this.#family.series({ webhook: this.#webhook, operation, result }, this.#user);
      this.#series.set(key, series);
    }
    return series;
  }

  [Symbol.dispose](): void {
    this.#user.dispose();
  }
}
