/** Serves `/metrics`: the few metrics of kube-apiserver that are meaningful here, in Prometheus' text format. */
import { gzipSync } from "node:zlib";
import type { Flows } from "../flowcontrol/flows.ts";
import { healthChecks } from "./health.ts";
import type { KindRegistry } from "../registry/kind-registry.ts";
import type { Storage } from "../storage/storage.ts";

const type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

export interface MetricsOptions {
  readonly registry: KindRegistry;
  readonly storage: Storage;
  readonly flows: Flows;
}

/** Serves `/metrics` and `/metrics/slis` for any method; `undefined` for any other path. */
export function metrics(request: Request, path: string, options: MetricsOptions): Response | undefined {
  if (path !== "/metrics" && path !== "/metrics/slis") return undefined;
  const headers = { "cache-control": "no-cache, private", "content-type": type };
  if (request.method === "DELETE")
    return new Response("metrics reset\n", { headers: { ...headers, "content-type": "text/plain; charset=utf-8" } });
  const text = path === "/metrics" ? serverMetrics(options) : healthMetrics(options);
  if (!(request.headers.get("accept-encoding") ?? "").includes("gzip")) return new Response(text, { headers });
  return new Response(gzipSync(text), { headers: { ...headers, "content-encoding": "gzip" } });
}

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly (readonly [labels: string, value: number])[];
}

function written({ name, help, type: kind, samples }: Metric): string {
  const lines = samples.map(([labels, value]) => `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join("")}`;
}

function serverMetrics({ registry, storage, flows }: MetricsOptions): string {
  const counts = new Map<string, number>();
  for (const { group, plural } of registry.rows())
    counts.set(`group="${group}",resource="${plural}"`, storage.collection(`${group}/${plural}`).size);
  const { user, system } = process.cpuUsage();
  const gauge = (name: string, help: string, value: number): Metric => ({
    name,
    help,
    type: "gauge",
    samples: [["", value]],
  });
  return [
    {
      name: "apiserver_resource_objects",
      help: "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.",
      type: "gauge",
      samples: [...counts],
    } as const,
    {
      name: "apiserver_flowcontrol_dispatched_requests_total",
      help: "[BETA] Number of requests executed by API Priority and Fairness subsystem",
      type: "counter",
      samples: [...flows.counts()].map(
        ({ schema, level, requests }) => [`flow_schema="${schema}",priority_level="${level}"`, requests] as const,
      ),
    } as const,
    {
      name: "apiserver_flowcontrol_nominal_limit_seats",
      help: "[BETA] Nominal number of execution seats configured for each priority level",
      type: "gauge",
      samples: [...flows.seats()].map(([level, seats]) => [`priority_level="${level}"`, seats] as const),
    } as const,
    {
      name: "process_cpu_seconds_total",
      help: "Total user and system CPU time spent in seconds.",
      type: "counter",
      samples: [["", (user + system) / 1e6]],
    } as const,
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", process.memoryUsage.rss()),
    gauge(
      "process_start_time_seconds",
      "Start time of the process since unix epoch in seconds.",
      Date.now() / 1000 - process.uptime(),
    ),
  ]
    .map(written)
    .join("");
}

function healthMetrics({ storage }: MetricsOptions): string {
  const isUp = (name: string): number => (name === "etcd" && storage.problem !== undefined ? 0 : 1);
  const samples = healthChecks().map(([name, kind]) => [`name="${name}",type="${kind}"`, isUp(name)] as const);
  return written({
    name: "kubernetes_healthcheck",
    help: "[STABLE] This metric records the result of a single healthcheck.",
    type: "gauge",
    samples,
  });
}
