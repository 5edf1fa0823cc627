/** The metrics of the process, with the names and labels of controller-runtime and client-go. */
import type { Metric, Registry as PrometheusRegistry } from "@prometheus-io/client";
import Registry from "@prometheus-io/client/lib/registry.js";
import { ControllerFamilies, type ControllerMetrics } from "./controller-metrics.ts";
import { InformerFamilies } from "./informer-metrics.ts";
import { measureEventLoopLag, processFamilies } from "./process-metrics.ts";
import { QueueFamilies, type QueueMetrics } from "./queue-metrics.ts";
import type { InformerReading, ModuleReading } from "./readings.ts";
import { RequestFamily, type RequestMetrics } from "./request-metrics.ts";
import { NumberFamily, ReadFamily, type Series } from "./series.ts";
import { exposition, type Exposition } from "./exposition.ts";

export interface Metrics {
  /** Prometheus' own registry: metrics of plugins are registered here. */
  readonly registry: PrometheusRegistry;
  /** What `/metrics` answers: Prometheus text, or OpenMetrics when `accept` asks for it. */
  text(accept?: string): Promise<Exposition>;
  /** The series of one controller, at 0, until it is disposed of. */
  controller(name: string, concurrency: number): ControllerMetrics;
  /** The series of one work queue, at 0, until it is disposed of. */
  queue(name: string): QueueMetrics;
  readonly requests: RequestMetrics;
  /** Kubernetes Events that were not sent, by reason. */
  eventDropped(reason: "full" | "rate" | "failed"): void;
  /** Asked when metrics are read; replaces the one before. */
  informersFrom(read: () => Iterable<InformerReading>): void;
  /** Asked when metrics are read; replaces the one before. */
  modulesFrom(read: () => Iterable<ModuleReading>): void;
}

export interface MetricsOptions {
  /** The label `host` of requests: the API server's host and port. @default "" */
  readonly host?: string | undefined;
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  return new ProcessMetrics(options);
}

class ProcessMetrics implements Metrics {
  readonly registry: PrometheusRegistry = new Registry();
  readonly requests: RequestFamily;
  readonly #controllers = new ControllerFamilies();
  readonly #queues = new QueueFamilies();
  readonly #informers = new InformerFamilies();
  readonly #events = new NumberFamily(
    { name: "binnacle_events_dropped_total", help: "Number of Kubernetes Events that were not sent, by reason" },
    "counter",
  );
  readonly #dropped: Readonly<Record<"full" | "rate" | "failed", Series>> = {
    full: this.#events.series({ reason: "full" }),
    rate: this.#events.series({ reason: "rate" }),
    failed: this.#events.series({ reason: "failed" }),
  };
  #modules: () => Iterable<ModuleReading> = () => [];
  #eventLoopLag = 0;

  constructor(options: MetricsOptions) {
    this.requests = new RequestFamily(options.host ?? "");
    const families = [
      ...Object.values(this.#controllers),
      ...Object.values(this.#queues),
      this.requests,
      ...this.#informers.families,
      new ReadFamily({ name: "binnacle_module_info", help: "The loaded modules and their files" }, () =>
        [...this.#modules()].map(({ module, file }) => ({ labels: { module, file }, value: 1 })),
      ),
      new ReadFamily({ name: "binnacle_module_state", help: "1 for the state that a module is in" }, () =>
        [...this.#modules()].map(({ module, state }) => ({ labels: { module, state }, value: 1 })),
      ),
      this.#events,
      ...processFamilies(() => this.#eventLoopLag),
    ];
    // The registry asks no more of a metric than its name and `get`.
    for (const family of families) this.registry.registerMetric(family as unknown as Metric<string>);
  }

  async text(accept?: string): Promise<Exposition> {
    this.#eventLoopLag = await measureEventLoopLag();
    return exposition(this.registry, accept);
  }

  controller(name: string, concurrency: number): ControllerMetrics {
    return this.#controllers.controller(name, concurrency);
  }

  queue(name: string): QueueMetrics {
    return this.#queues.queue(name);
  }

  eventDropped(reason: "full" | "rate" | "failed"): void {
    this.#dropped[reason].value++;
  }

  informersFrom(read: () => Iterable<InformerReading>): void {
    this.#informers.read = read;
  }

  modulesFrom(read: () => Iterable<ModuleReading>): void {
    this.#modules = read;
  }
}
