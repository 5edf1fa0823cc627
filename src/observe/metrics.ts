/** The metrics of the process, with the names and labels of controller-runtime and client-go. */
import { ControllerFamilies, type ControllerMetrics } from "./controller-metrics.ts";
import { DaemonFamilies, type DaemonMetrics } from "./daemon-metrics.ts";
import { InformerFamilies } from "./informer-metrics.ts";
import { measureEventLoopLag, processFamilies } from "./process-metrics.ts";
import { QueueFamilies, type QueueMetrics } from "./queue-metrics.ts";
import type { InformerReading, ModuleReading } from "./readings.ts";
import { RequestFamily, type RequestMetrics } from "./request-metrics.ts";
import { NumberFamily, ReadFamily, type Labels, type Series } from "./series.ts";
import { ConversionFamilies } from "./conversion-metrics.ts";
import { WebhookFamilies } from "./webhook-metrics.ts";
import { exposition, type Exposition, type Readable } from "./exposition.ts";

export interface Metrics {
  /** Returns what `/metrics` serves: Prometheus text, or OpenMetrics when `accept` asks for it. */
  text(accept?: string): Promise<Exposition>;
  /** Returns the series of one controller, which start at 0 and exist until it is disposed of. */
  controller(name: string, concurrency: number): ControllerMetrics;
  /** Returns the series of one work queue, which start at 0 and exist until it is disposed of. */
  queue(name: string): QueueMetrics;
  /** The series of the daemons of one name, until it is disposed of. */
  daemon(controller: string, name: string): DaemonMetrics;
  readonly requests: RequestMetrics;
  readonly webhooks: WebhookFamilies;
  readonly conversions: ConversionFamilies;
  /** Counts a Kubernetes Event that was not sent. */
  eventDropped(reason: EventDropReason): void;
  /** Sets the function that is called when metrics are read; it replaces the previous one. */
  informersFrom(read: () => Iterable<InformerReading>): void;
  /** Sets the function that is called when metrics are read; it replaces the previous one. */
  modulesFrom(read: () => Iterable<ModuleReading>): void;
  /**
   * Adds a metric from elsewhere, such as a plugin's, until it is disposed of.
   *
   * @throws Error when the name is taken or invalid in Prometheus.
   */
  add(metric: ReadMetric): Disposable;
  /** Adds a family of series that its owner updates, until it is disposed of. @throws as `add`. */
  addFamily(family: Readable): Disposable;
}

/** A metric whose samples are computed when metrics are read; it is left out while `read` throws. */
export interface ReadMetric {
  /** The name, such as `shop_orders_total`. */
  readonly name: string;
  readonly help: string;
  /** @default "gauge" */
  readonly type?: "gauge" | "counter" | undefined;
  readonly read: () => Iterable<{ readonly labels: Labels; readonly value: number }>;
}

/**
 * `full`: too many waited; `rate`: there were too many about one object; `failed`: the server rejected it; `refused`:
 * writes are not allowed.
 */
export type EventDropReason = "full" | "rate" | "failed" | "refused" | "closed";

const METRIC_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export interface MetricsOptions {
  /** The label `host` of requests: the API server's host and port. @default "" */
  readonly host?: string | undefined;
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  return new ProcessMetrics(options);
}

class ProcessMetrics implements Metrics {
  readonly #families = new Map<string, Readable>();
  readonly requests: RequestFamily;
  readonly webhooks: WebhookFamilies = new WebhookFamilies();
  readonly conversions: ConversionFamilies = new ConversionFamilies();
  readonly #controllers = new ControllerFamilies();
  readonly #queues = new QueueFamilies();
  readonly #daemons = new DaemonFamilies();
  readonly #informers = new InformerFamilies();
  readonly #events = new NumberFamily(
    { name: "binnacle_events_dropped_total", help: "Number of Kubernetes Events that were not sent, by reason" },
    "counter",
  );
  readonly #dropped: Readonly<Record<EventDropReason, Series>> = {
    full: this.#events.series({ reason: "full" }),
    rate: this.#events.series({ reason: "rate" }),
    failed: this.#events.series({ reason: "failed" }),
    refused: this.#events.series({ reason: "refused" }),
    closed: this.#events.series({ reason: "closed" }),
  };
  #modules: () => Iterable<ModuleReading> = () => [];
  #eventLoopLag = 0;

  constructor(options: MetricsOptions) {
    this.requests = new RequestFamily(options.host ?? "");
    const families = [
      ...Object.values(this.#controllers),
      ...Object.values(this.#queues),
      this.#daemons.daemons,
      this.#daemons.failures,
      this.requests,
      ...this.#informers.families,
      ...this.webhooks.families,
      ...this.conversions.families,
      new ReadFamily({ name: "binnacle_module_info", help: "The loaded modules and their files" }, () =>
        [...this.#modules()].map(({ module, file }) => ({ labels: { module, file }, value: 1 })),
      ),
      new ReadFamily({ name: "binnacle_module_state", help: "1 for the state that a module is in" }, () =>
        [...this.#modules()].map(({ module, state }) => ({ labels: { module, state }, value: 1 })),
      ),
      this.#events,
      ...processFamilies(() => this.#eventLoopLag),
    ];
    for (const family of families) this.#families.set(family.name, family);
  }

  async text(accept?: string): Promise<Exposition> {
    this.#eventLoopLag = await measureEventLoopLag();
    return exposition(this.#families.values(), accept);
  }

  controller(name: string, concurrency: number): ControllerMetrics {
    return this.#controllers.controller(name, concurrency);
  }

  queue(name: string): QueueMetrics {
    return this.#queues.queue(name);
  }

  daemon(controller: string, name: string): DaemonMetrics {
    return this.#daemons.daemon(controller, name);
  }

  eventDropped(reason: EventDropReason): void {
    this.#dropped[reason].value++;
  }

  add(metric: ReadMetric): Disposable {
    const { name, help, type = "gauge", read } = metric;
    const family = new ReadFamily({ name, help, type }, () => {
      try {
        return [...read()];
      } catch {
        return [];
      }
    });
    return this.addFamily(family);
  }

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

  informersFrom(read: () => Iterable<InformerReading>): void {
    this.#informers.read = read;
  }

  modulesFrom(read: () => Iterable<ModuleReading>): void {
    this.#modules = read;
  }
}
