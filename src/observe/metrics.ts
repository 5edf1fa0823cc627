/** The metrics of the process, with the names and labels of controller-runtime and client-go. */
import { ControllerFamilies, type ControllerInMetrics, ControllerMetrics } from "./controller-metrics.ts";
import { ConversionFamilies } from "./conversion-metrics.ts";
import { DaemonFamilies, type DaemonLabels, type DaemonMetrics } from "./daemon-metrics.ts";
import { exposition, type Exposition, type Readable } from "./exposition.ts";
import { measureEventLoopLag, processFamilies } from "./process-metrics.ts";
import { QueueFamilies, type QueueLabels, type QueueMetrics } from "./queue-metrics.ts";
import { counter, NumberFamily, ReadFamily, type ReadMetric, type Series } from "./series.ts";
import { WebhookFamilies } from "./webhook-metrics.ts";

/**
 * `full`: too many waited; `rate`: there were too many about one object; `failed`: the server rejected it; `refused`:
 * writes are not allowed.
 */
export type EventDropReason = "full" | "rate" | "failed" | "refused" | "closed";

const DROP_REASONS: readonly EventDropReason[] = ["full", "rate", "failed", "refused", "closed"];
const METRIC_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export interface MetricsOptions {
  /** The label `host` of requests: the API server's host and port. @default "" */
  readonly host?: string | undefined;
}

export function createMetrics({ host = "" }: MetricsOptions = {}): Metrics {
  return new Metrics(host);
}

export class Metrics {
  readonly #families = new Map<string, Readable>();
  readonly requests: RequestFamily;
  readonly webhooks: WebhookFamilies = new WebhookFamilies();
  readonly conversions: ConversionFamilies = new ConversionFamilies();
  readonly #controllers = new ControllerFamilies();
  readonly #queues = new QueueFamilies();
  readonly #daemons = new DaemonFamilies();
  readonly #events = counter(
    "binnacle_events_dropped_total",
    "Number of Kubernetes Events that were not sent, by reason",
  );
  readonly #dropped = new Map(DROP_REASONS.map((reason) => [reason, this.#events.series({ reason })]));
  #eventLoopLag = 0;

  constructor(host: string) {
    this.requests = new RequestFamily(host);
    const families = [
      ...Object.values(this.#controllers),
      ...Object.values(this.#queues),
      this.#daemons.daemons,
      this.#daemons.failures,
      this.requests,
      ...this.webhooks.families,
      ...this.conversions.families,
      this.#events,
      ...processFamilies(() => this.#eventLoopLag),
    ];
    for (const family of families) this.#families.set(family.name, family);
  }

  /** Returns the content of `/metrics`: Prometheus text, or OpenMetrics when `accept` asks for it. */
  async text(accept?: string): Promise<Exposition> {
    this.#eventLoopLag = await measureEventLoopLag();
    return exposition(this.#families.values(), accept);
  }

  /** Returns the metrics of one controller. */
  controller(settings: ControllerInMetrics): ControllerMetrics {
    return new ControllerMetrics(this.#controllers, settings);
  }

  /** Returns the metrics of one work queue. */
  queue(labels: QueueLabels): QueueMetrics {
    return this.#queues.queue(labels);
  }

  /** Returns the metrics of the daemons of one name. */
  daemon(labels: DaemonLabels): DaemonMetrics {
    return this.#daemons.daemon(labels);
  }

  /** Counts a Kubernetes Event that was not sent. */
  eventDropped(reason: EventDropReason): void {
    this.#dropped.get(reason)!.value++;
  }

  /**
   * Adds a metric from elsewhere, such as a plugin's, until it is disposed of.
   *
   * @throws Error when the name is taken or invalid in Prometheus.
   */
  add(metric: ReadMetric): Disposable {
    return this.addFamily(new ReadFamily(metric));
  }

  /** Adds a family of series that its owner updates, until it is disposed of. @throws like {@link add}. */
  addFamily(family: Readable): Disposable {
    const { name } = family;
    if (!METRIC_NAME.test(name)) {
      throw new Error(`Cannot add the metric '${name}': its name takes letters, digits and underscores`);
    }
    if (this.#families.has(name)) {
      throw new Error(`Cannot add the metric '${name}': a metric with that name exists, choose another`);
    }
    this.#families.set(name, family);
    return {
      [Symbol.dispose]: () => {
        if (this.#families.get(name) === family) this.#families.delete(name);
      },
    };
  }
}

/** The requests to the API server, counted as client-go does. */
class RequestFamily extends NumberFamily {
  readonly #host: string;
  readonly #byMethod = new Map<string, Map<string, Series>>();

  constructor(host: string) {
    const help = "Number of HTTP requests, partitioned by status code, method, and host.";
    super({ name: "rest_client_requests_total", help }, "counter");
    this.#host = host;
  }

  /** Counts an attempt by its HTTP method and its status code or `<error>`. */
  observe(method: string, code: string): void {
    let byCode = this.#byMethod.get(method);
    if (byCode === undefined) this.#byMethod.set(method, (byCode = new Map()));
    let series = byCode.get(code);
    if (series === undefined) byCode.set(code, (series = this.series({ code, host: this.#host, method })));
    series.value++;
  }
}
