/**
 * What the dashboards ask that kubebuilder's Grafana plugin generates (`kubebuilder edit --plugins grafana/v1-alpha`, in
 * August 2026).
 *
 * @see https://book.kubebuilder.io/plugins/available/grafana-v1-alpha
 */
const OPERATOR = 'job="$job", namespace="$namespace"';

const quantiles = ["0.50", "0.90", "0.99"].flatMap((quantile) =>
  ["workqueue_queue_duration_seconds", "workqueue_work_duration_seconds"].map(
    (metric) => `histogram_quantile(${quantile}, sum(rate(${metric}_bucket{${OPERATOR}}[5m])) by (instance, name, le))`,
  ),
);

/** Each expression with the labels that its legend shows. */
export const KUBEBUILDER_QUERIES: readonly (readonly [expr: string, legend: readonly string[]])[] = [
  [`sum(rate(controller_runtime_reconcile_total{${OPERATOR}}[5m])) by (instance, pod)`, ["instance", "pod"]],
  [`sum(rate(controller_runtime_reconcile_errors_total{${OPERATOR}}[5m])) by (instance, pod)`, ["instance", "pod"]],
  [`controller_runtime_active_workers{${OPERATOR}}`, ["controller", "instance"]],
  [`workqueue_depth{${OPERATOR}}`, ["name", "instance"]],
  [`sum(rate(workqueue_adds_total{${OPERATOR}}[5m])) by (instance, name)`, ["name", "instance"]],
  [`sum(rate(workqueue_retries_total{${OPERATOR}}[5m])) by (instance, name)`, ["name", "instance"]],
  [`rate(workqueue_unfinished_work_seconds{${OPERATOR}}[5m])`, ["name", "instance"]],
  ...quantiles.map((expr) => [expr, ["name", "instance"]] as const),
  [`rate(process_cpu_seconds_total{${OPERATOR}, pod="$pod"}[5m]) * 100`, ["pod", "container"]],
  [`process_resident_memory_bytes{${OPERATOR}, pod="$pod"}`, ["pod", "container"]],
  // The variables of the dashboards.
  ['label_values(controller_runtime_reconcile_total{namespace=~"$namespace", job=~"$job"}, pod)', ["pod", "job"]],
];
