/** The values of a chart that people change, with defaults from the command line. */
import { stringify } from "yaml";
import type { DeployPlan } from "../deploy-plan.ts";
import { configComment, configValues } from "./config-template.ts";
import { GRACE_SECONDS, resourcesOf } from "../deployment.ts";

/**
 * The parts of an image's name.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
 */
function imageParts(image: string): {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
} {
  const [named = "", digest = ""] = image.split("@");
  const colon = named.lastIndexOf(":");
  const hasTag = colon > named.lastIndexOf("/");
  return { repository: hasTag ? named.slice(0, colon) : named, tag: hasTag ? named.slice(colon + 1) : "", digest };
}

/** Returns the text of `values.yaml`, with a comment before each value. */
export function valuesOf(plan: DeployPlan): string {
  // Helm reads YAML 1.1, in which `no` and `n` are booleans.
  const entry = (comment: string, value: object): string => `# ${comment}\n${stringify(value, { version: "1.1" })}`;
  return [
    entry("The image; with a digest the tag is only for people.", {
      image: { ...imageParts(plan.image), pullPolicy: "IfNotPresent" },
    }),
    entry(
      plan.elects === undefined && plan.shards === undefined
        ? "One, because the chart was written without an election."
        : "Pods; from two on, one of them may be drained at a time.",
      { replicas: plan.replicas },
    ),
    entry("What a pod asks for, and what it may take.", { resources: resourcesOf(plan) }),
    entry("Namespaces to work in, with a Role in each; all of the cluster when there is none.", {
      namespaces: [...plan.namespaces],
    }),
    entry("Flags of `binnacle run`, such as `log-level: debug` or `concurrency: 8`.", { flags: {} }),
    entry("Longer where the flag `grace-period` is: after these seconds a pod is killed.", {
      terminationGracePeriodSeconds: GRACE_SECONDS,
    }),
    ...(plan.crds.length === 0
      ? []
      : [
          entry(
            "CustomResourceDefinitions: `keep` leaves them, and all their objects, in the cluster when the release goes.",
            {
              crds: { install: true, keep: true },
            },
          ),
        ]),
    ...(plan.webhooks.args.length === 0
      ? []
      : [
          entry("self-managed, or cert-manager with a reference to an issuer; without one, the chart has its own.", {
            webhooks: { certificates: "self-managed", issuerRef: {} },
          }),
        ]),
    ...(plan.config === undefined ? [] : [entry(configComment(plan.config), configValues(plan.config))]),
    entry("Refuses connections but to webhooks, and to metrics from namespaces with the label metrics: enabled.", {
      networkPolicy: { enabled: plan.networkPolicy },
    }),
    entry("Listens for `binnacle why`, `top` and the dashboard, in the pod only; a port-forward leads there.", {
      debug: { enabled: plan.debug },
    }),
    entry(
      "A Service for metrics; of the Prometheus operator a ServiceMonitor and alerts, with its labels; dashboards of Grafana.",
      {
        metrics: {
          service: plan.metricsService || plan.serviceMonitor || plan.monitoring,
          serviceMonitor: plan.serviceMonitor || plan.monitoring,
          alerts: plan.monitoring,
          dashboards: plan.monitoring,
          labels: {},
        },
      },
    ),
    entry("Beside those that the chart sets.", {
      serviceAccount: { annotations: {} },
      podAnnotations: {},
      podLabels: {},
      env: [],
      envFrom: [],
      volumes: [],
      volumeMounts: [],
    }),
    entry("Where the pods run.", {
      imagePullSecrets: [],
      nodeSelector: {},
      tolerations: [],
      affinity: {},
      priorityClassName: "",
    }),
  ].join("\n");
}
