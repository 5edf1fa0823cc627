/** What it takes to run the modules in a cluster. */
import { createHash } from "node:crypto";
import type { MountedFile } from "./config-map-files.ts";
import { WEBHOOK_PORT, type WebhookManifests } from "./webhook-manifests.ts";
import { namespaceManifest, type ServiceAccount } from "../module/rbac-manifests.ts";

export interface DeployOptions {
  readonly account: ServiceAccount;
  readonly namespaces: readonly string[];
  readonly rbac: readonly object[];
  /** The CustomResourceDefinitions of the modules. */
  readonly crds: readonly object[];
  /** The process applies the definitions itself, so that they are no part of the manifests. */
  readonly installs: boolean;
  /** Holds the binary and, without files, the modules. */
  readonly image: string;
  /** More than one need a leader, or shards. */
  readonly replicas: number;
  /** The value of `--leader-elect`; `undefined` for none. */
  readonly elects: "process" | "module" | undefined;
  /** Metrics are served over TLS, to those whom the API server lets read them. */
  readonly secure: boolean;
  /** The value of `--shards`; `undefined` where one replica leads. */
  readonly shards: string | undefined;
  readonly webhooks: Pick<WebhookManifests, "service" | "args">;
  /** The modules, for a ConfigMap; `undefined` when the image holds them. */
  readonly files: readonly MountedFile[] | undefined;
}

/** As kubebuilder's. */
const SECURE_METRICS_PORT = 8443;

/** Namespace, kinds, ServiceAccount, RBAC, the modules, and a Deployment with probes. */
export function deployManifests(options: DeployOptions): readonly object[] {
  const { account, rbac, crds, installs, files } = options;
  const { name, namespace } = account;
  const metadata = { name, namespace, labels: labels(name) };
  return [
    ...namespaceManifest(namespace),
    ...(installs ? [] : crds),
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    ...rbac,
    ...(files === undefined
      ? []
      : [
          {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata,
            data: Object.fromEntries(files.map((file) => [file.key, file.text])),
          },
        ]),
    ...options.webhooks.service,
    deployment(options),
    ...(options.replicas > 1 ? [disruptionBudget(options)] : []),
  ];
}

/** Draining nodes takes one replica at a time, so that another one can lead. */
function disruptionBudget({ account: { name, namespace } }: DeployOptions): object {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels: labels(name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
  };
}

function selectorOf(name: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name };
}

function labels(name: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "binnacle" };
}

function deployment(options: DeployOptions): object {
  const { account, namespaces, image, installs, files, replicas, elects, shards, secure, webhooks } = options;
  const { name, namespace } = account;
  const selector = selectorOf(name);
  const annotations = files === undefined ? undefined : { "binnacle.dev/modules": hashOf(files) };
  const probe = (path: string) => ({ httpGet: { path, port: "health" }, periodSeconds: 10 });
  const container = {
    name: "binnacle",
    image,
    args: [
      "run",
      "--controllers=/controllers",
      ...namespaces.map((one) => `--namespace=${one}`),
      ...(installs ? ["--install-crds"] : []),
      ...(elects === undefined ? [] : [`--leader-elect=${elects}`, `--leader-election-id=${name}`]),
      ...(secure ? ["--metrics-secure", `--metrics-bind-address=:${SECURE_METRICS_PORT}`] : []),
      ...(shards === undefined ? [] : [`--shards=${shards}`, `--leader-election-id=${name}`]),
      ...webhooks.args,
    ],
    ports: [
      { name: "health", containerPort: 8081 },
      { name: "metrics", containerPort: secure ? SECURE_METRICS_PORT : 8080 },
      ...(webhooks.args.length > 0 ? [WEBHOOK_PORT] : []),
    ],
    startupProbe: { httpGet: { path: "/livez", port: "health" }, periodSeconds: 1, failureThreshold: 30 },
    livenessProbe: probe("/livez"),
    readinessProbe: probe("/readyz"),
    resources: { requests: { cpu: "10m", memory: "96Mi" } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true },
    ...(files !== undefined && { volumeMounts: [{ name: "controllers", mountPath: "/controllers", readOnly: true }] }),
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels: labels(name) },
    spec: {
      replicas,
      // Without a leader two at the same time would reconcile the same objects. With one, a new replica is warm before
      // an old one hands the lead over.
      strategy:
        elects === undefined && shards === undefined
          ? { type: "Recreate" }
          : { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: labels(name), ...(annotations !== undefined && { annotations }) },
        spec: {
          serviceAccountName: name,
          // The grace period of `run`, and the time to close connections.
          terminationGracePeriodSeconds: 45,
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
          ...(replicas > 1 && {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: "kubernetes.io/hostname",
                whenUnsatisfiable: "ScheduleAnyway",
                labelSelector: { matchLabels: selector },
              },
            ],
          }),
          containers: [container],
          ...(files !== undefined && {
            volumes: [
              { name: "controllers", configMap: { name, items: files.map(({ key, path }) => ({ key, path })) } },
            ],
          }),
        },
      },
    },
  };
}

function hashOf(files: readonly MountedFile[]): string {
  return createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
}
