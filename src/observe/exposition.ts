/** Formats metrics as text with Prometheus' own library. */
import type { Metric } from "@prometheus-io/client";

export interface Exposition {
  readonly body: string;
  readonly contentType: string;
}

/** A metric in the form that the library's registry reads. */
export interface Readable {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  get(): Promise<object>;
}

/** Formats Prometheus text, or OpenMetrics 1.0 when the `Accept` header prefers it. */
export async function exposition(metrics: Iterable<Readable>, accept: string | undefined): Promise<Exposition> {
  // The library is loaded at the first scrape: it takes 6 MiB, which a process without scrapes does not need.
  const { default: Registry } = await import("@prometheus-io/client/lib/registry.js");
  const openMetrics = prefersOpenMetrics(accept);
  const contentType = openMetrics ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
  const registry = new Registry(contentType);
  for (const metric of metrics) {
    const entry = openMetrics && metric.type === "counter" ? withoutSuffix(metric) : metric;
    // The registry reads only these fields of a metric.
    registry.registerMetric(entry as unknown as Metric<string>);
  }
  return { body: await registry.metrics(), contentType };
}

/** The library permanently renames counters when it writes OpenMetrics, so it gets a copy. */
function withoutSuffix(metric: Readable): Readable {
  const name = metric.name.replace(/_total$/, "");
  return {
    name,
    help: metric.help,
    type: metric.type,
    async get() {
      return { ...(await metric.get()), name };
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
