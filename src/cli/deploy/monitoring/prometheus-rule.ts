/** The alerts as a PrometheusRule of the Prometheus operator. */
import { type DeployPlan, labelsOf } from "../deploy-plan.ts";
import { metricsServiceName } from "../listening.ts";
import { ALERTS } from "./alerts.ts";

/**
 * Selects the series of one operator: others in the cluster, in Go too, have metrics of the same names. Prometheus calls
 * the job of a ServiceMonitor as its Service.
 */
export function seriesOf({ name, namespace }: DeployPlan["account"]): string {
  return `namespace="${namespace}",job="${metricsServiceName(name)}"`;
}

/** @see https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PrometheusRule */
export function prometheusRule({ account }: Pick<DeployPlan, "account">): PrometheusRule {
  const { name, namespace } = account;
  const rules = ALERTS.map(({ name: alert, expr, lasting, severity, summary, description }) => ({
    alert,
    expr: expr(seriesOf(account)),
    ...(lasting !== undefined && { for: lasting }),
    labels: { severity, operator: name },
    annotations: { summary, description },
  }));
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { groups: [{ name: `${name}.alerts`, rules }] },
  };
}

export interface PrometheusRule {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec: { readonly groups: readonly { readonly name: string; readonly rules: readonly AlertingRule[] }[] };
}

interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
