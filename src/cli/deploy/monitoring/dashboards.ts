/** Grafana's dashboards of an operator, in ConfigMaps that the sidecar of Grafana's chart loads by their label. */
import { type DeployPlan, labelsOf } from "../deploy-plan.ts";
import { seriesOf } from "./prometheus-rule.ts";

interface Panel {
  readonly title: string;
  /** A unit of Grafana. @default "short" */
  readonly unit?: string;
  /** PromQL and the legend of its series; `$of` is the selector, `$range` the interval of rates. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
}

const quantile = (q: number, metric: string, by: string): string =>
  `histogram_quantile(${q}, sum by (${by}, le) (rate(${metric}_bucket{$of}[$range])))`;

const CONTROLLERS: readonly Panel[] = [
  {
    title: "Runs per second",
    unit: "ops",
    queries: [
      [
        "sum by (controller, result) (rate(controller_runtime_reconcile_total{$of}[$range]))",
        "{{controller}} {{result}}",
      ],
    ],
  },
  {
    title: "Duration of runs",
    unit: "s",
    queries: [
      [quantile(0.5, "controller_runtime_reconcile_time_seconds", "controller"), "{{controller}} median"],
      [quantile(0.99, "controller_runtime_reconcile_time_seconds", "controller"), "{{controller}} 99 %"],
    ],
  },
  {
    title: "Keys that need attention",
    queries: [
      ["sum by (controller) (binnacle_queue_failing{$of})", "{{controller}} failing"],
      ["sum by (controller) (binnacle_queue_parked{$of})", "{{controller}} parked"],
      ["sum by (controller) (binnacle_controller_stuck_runs{$of})", "{{controller}} stuck"],
    ],
  },
  {
    title: "Keys that wait for a worker",
    queries: [["sum by (controller) (workqueue_depth{$of})", "{{controller}}"]],
  },
  {
    title: "How long keys wait for a worker",
    unit: "s",
    queries: [[quantile(0.99, "workqueue_queue_duration_seconds", "controller"), "{{controller}} 99 %"]],
  },
  {
    title: "Workers",
    queries: [
      ["sum by (controller) (controller_runtime_active_workers{$of})", "{{controller}}"],
      ["max by (controller) (controller_runtime_max_concurrent_reconciles{$of})", "{{controller}} at most"],
    ],
  },
  {
    title: "Modules by state",
    queries: [["sum by (module, state) (binnacle_module_state{$of})", "{{module}} {{state}}"]],
  },
  {
    title: "Leader, and shares of the keys",
    queries: [
      ["leader_election_master_status{$of}", "{{name}} {{pod}}"],
      ["binnacle_shard_ratio{$of}", "share {{pod}}"],
    ],
  },
  {
    title: "Answers of webhooks per second",
    unit: "ops",
    queries: [
      ["sum by (webhook, result) (rate(binnacle_webhook_admissions_total{$of}[$range]))", "{{webhook}} {{result}}"],
    ],
  },
  {
    title: "Latency of webhooks",
    unit: "s",
    queries: [[quantile(0.99, "controller_runtime_webhook_latency_seconds", "webhook"), "{{webhook}} 99 %"]],
  },
];

const PROCESS: readonly Panel[] = [
  {
    title: "Requests to the API server per second",
    unit: "ops",
    queries: [["sum by (method, code) (rate(rest_client_requests_total{$of}[$range]))", "{{method}} {{code}}"]],
  },
  {
    title: "Silence of the API server",
    unit: "s",
    queries: [["binnacle_api_server_silent_seconds{$of}", "{{pod}}"]],
  },
  {
    title: "Objects in informers",
    queries: [["max by (kind, selector) (binnacle_informer_objects{$of})", "{{kind}} {{selector}}"]],
  },
  {
    title: "Size of informers",
    unit: "bytes",
    queries: [["max by (kind, selector) (binnacle_informer_bytes{$of})", "{{kind}} {{selector}}"]],
  },
  {
    title: "Age of the last event or bookmark",
    unit: "s",
    queries: [["max by (kind, selector) (binnacle_informer_last_event_age_seconds{$of})", "{{kind}} {{selector}}"]],
  },
  {
    title: "Full lists after the first, per hour",
    queries: [["sum by (kind, reason) (increase(binnacle_informer_relists_total{$of}[1h]))", "{{kind}} {{reason}}"]],
  },
  {
    title: "Memory",
    unit: "bytes",
    queries: [
      ["process_resident_memory_bytes{$of}", "{{pod}} resident"],
      ["binnacle_memory_used_bytes{$of}", "{{pod}} counted"],
      ["binnacle_memory_limit_bytes{$of}", "{{pod}} limit"],
    ],
  },
  {
    title: "Processors",
    queries: [["rate(process_cpu_seconds_total{$of}[$range])", "{{pod}}"]],
  },
  {
    title: "Lag of the event loop",
    unit: "s",
    queries: [[quantile(0.99, "binnacle_event_loop_lag_seconds", "pod"), "{{pod}} 99 %"]],
  },
  {
    title: "Time until certificates of webhooks expire",
    unit: "s",
    queries: [["binnacle_webhook_certificate_expiry_timestamp_seconds{$of} - time()", "{{certificate}} {{pod}}"]],
  },
];

/** Two panels in a row; Grafana's grid has 24 columns. */
const SIZE = { w: 12, h: 8 } as const;
const PROMETHEUS = { type: "prometheus", uid: "${datasource}" } as const;

/** @see https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/ */
function dashboard(title: string, panels: readonly Panel[], series: string): object {
  const of = `${series},pod=~"$pod"`;
  const written = (expr: string): string =>
    expr.replaceAll("$of", () => of).replaceAll("$range", () => "$__rate_interval");
  return {
    title,
    tags: ["binnacle"],
    editable: true,
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    templating: {
      list: [
        { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
        {
          name: "pod",
          label: "Pod",
          type: "query",
          datasource: PROMETHEUS,
          query: { query: `label_values(process_start_time_seconds{${series}}, pod)`, refId: "pods" },
          refresh: 2,
          includeAll: true,
          multi: true,
          current: { text: "All", value: "$__all" },
        },
      ],
    },
    panels: panels.map(({ title: name, unit = "short", queries }, index) => ({
      id: index + 1,
      title: name,
      type: "timeseries",
      datasource: PROMETHEUS,
      gridPos: { ...SIZE, x: (index % 2) * SIZE.w, y: Math.floor(index / 2) * SIZE.h },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
      targets: queries.map(([expr, legendFormat], query) => ({
        refId: String.fromCodePoint(65 + query),
        datasource: PROMETHEUS,
        expr: written(expr),
        legendFormat,
      })),
    })),
  };
}

/** The names that the ConfigMaps of dashboards have. */
export function dashboardNames(name: string): readonly [controllers: string, process: string] {
  return [`${name}-dashboard-controllers`, `${name}-dashboard-process`];
}

export function dashboards({ account }: Pick<DeployPlan, "account">): readonly object[] {
  const { name, namespace } = account;
  const series = seriesOf(account);
  const [controllers, process] = dashboardNames(name);
  const configMap = (called: string, file: string, content: object): object => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: called, namespace, labels: { ...labelsOf(name), grafana_dashboard: "1" } },
    data: { [file]: `${JSON.stringify(content, undefined, 1)}\n` },
  });
  return [
    // Titles must differ within a folder of Grafana, so they begin with the operator's name.
    configMap(controllers, `${name}-controllers.json`, dashboard(`${name}: controllers`, CONTROLLERS, series)),
    configMap(process, `${name}-process.json`, dashboard(`${name}: process`, PROCESS, series)),
  ];
}
