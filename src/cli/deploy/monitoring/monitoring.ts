/** Everything that watches an operator, for Prometheus and Grafana. */
import type { DeployPlan } from "../deploy-plan.ts";
import { metricsService, serviceMonitor } from "../listening.ts";
import { dashboards } from "./dashboards.ts";
import { prometheusRule } from "./prometheus-rule.ts";

/** Returns the Service of the metrics, its ServiceMonitor, the alerts and the dashboards. */
export function monitoringManifests(plan: Pick<DeployPlan, "account" | "secure">): readonly object[] {
  return [metricsService(plan), serviceMonitor(plan), prometheusRule(plan), ...dashboards(plan)];
}
