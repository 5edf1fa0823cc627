/** Limits who may connect to the pods, and tells Prometheus where the metrics are. */
import { WEBHOOK_PORT } from "../webhook-manifests.ts";
import { type DeployPlan, labelsOf, metricsPort, selectorOf } from "./deploy-plan.ts";

/** Namespaces with this label may read metrics, as with kubebuilder. */
const SCRAPERS = { metrics: "enabled" } as const;

/**
 * Admits connections from the clients of webhooks (from everywhere while no ranges are named) and from namespaces that
 * may read metrics. Probes of the node are always admitted. Outgoing connections of the pods are not limited, because
 * only the modules know them.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function networkPolicy(plan: Pick<DeployPlan, "account" | "secure" | "webhooks" | "webhookClients">): object {
  const { name, namespace } = plan.account;
  const from = [{ namespaceSelector: { matchLabels: SCRAPERS } }];
  const metrics = { from, ports: [{ port: metricsPort(plan).containerPort, protocol: "TCP" }] };
  // No policy can select API servers, which may be outside of the cluster's network; who runs the cluster knows their
  // addresses.
  const clients = plan.webhookClients.map((cidr) => ({ ipBlock: { cidr } }));
  const webhooks = {
    ...(clients.length > 0 && { from: clients }),
    ports: [{ port: WEBHOOK_PORT.containerPort, protocol: "TCP" }],
  };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      podSelector: { matchLabels: selectorOf(name) },
      policyTypes: ["Ingress"],
      ingress: [metrics, ...(plan.webhooks.args.length > 0 ? [webhooks] : [])],
    },
  };
}

type MetricsPlan = Pick<DeployPlan, "account" | "secure">;

export function metricsServiceName(name: string): string {
  return `${name}-metrics`;
}

/** The Service of the metrics; its port has the name that ServiceMonitors use. */
export function metricsService(plan: MetricsPlan): object {
  const { name, namespace } = plan.account;
  const { containerPort } = metricsPort(plan);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: metricsServiceName(name), namespace, labels: metricsLabels(name) },
    spec: {
      selector: selectorOf(name),
      ports: [{ name: portName(plan), port: containerPort, targetPort: "metrics", protocol: "TCP" }],
    },
  };
}

/**
 * A ServiceMonitor of the Prometheus operator. With TLS it does not verify the generated certificate, and sends its
 * token.
 */
export function serviceMonitor(plan: MetricsPlan): object {
  const { name, namespace } = plan.account;
  const secured = {
    scheme: "https",
    bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
    tlsConfig: { insecureSkipVerify: true },
  };
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      selector: { matchLabels: metricsLabels(name) },
      endpoints: [{ port: portName(plan), path: "/metrics", ...(plan.secure && secured) }],
    },
  };
}

function portName({ secure }: Pick<DeployPlan, "secure">): string {
  return secure ? "https" : "http";
}

/** The labels differ from those of the Service of the webhooks. */
function metricsLabels(name: string): Readonly<Record<string, string>> {
  return { ...labelsOf(name), "app.kubernetes.io/component": "metrics" };
}
