/** Metrics as text. */
import type { Metric, Registry as PrometheusRegistry } from "@prometheus-io/client";
import Registry from "@prometheus-io/client/lib/registry.js";

export interface Exposition {
  readonly body: string;
  readonly contentType: string;
}

/** What of a metric is used here; the library's types leave these out. */
interface Readable {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  get(): Promise<object>;
  getForPromString?(): Promise<object>;
}

/** Prometheus text, or OpenMetrics 1.0 when the `Accept` header prefers it, as Prometheus' own does. */
export async function exposition(registry: PrometheusRegistry, accept: string | undefined): Promise<Exposition> {
  if (!prefersOpenMetrics(accept)) {
    return { body: await registry.metrics(), contentType: Registry.PROMETHEUS_CONTENT_TYPE };
  }
  // The library renames counters for good when it writes OpenMetrics; it is given stand-ins for them.
  const openMetrics = new Registry(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of registry.getMetricsAsArray() as unknown as Readable[]) {
    openMetrics.registerMetric(standIn(metric) as unknown as Metric<string>);
  }
  return { body: await openMetrics.metrics(), contentType: Registry.OPENMETRICS_CONTENT_TYPE };
}

function standIn(metric: Readable): Readable {
  const name = metric.type === "counter" ? metric.name.replace(/_total$/, "") : metric.name;
  return {
    name,
    help: metric.help,
    type: metric.type,
    async get() {
      return { ...(await (metric.getForPromString?.() ?? metric.get())), name };
    },
  };
}

function prefersOpenMetrics(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return weightOf(accept, "application/openmetrics-text") > weightOf(accept, "text/plain");
}

function weightOf(accept: string, type: string): number {
  for (const part of accept.split(",")) {
    const [name, ...parameters] = part.split(";").map((piece) => piece.trim());
    if (name?.toLowerCase() !== type) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
  }
  return 0;
}
