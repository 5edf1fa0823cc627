/** The options of `binnacle manifests`. */
import type { Option, ValuesOf } from "../settings/option.ts";
import { nameOption, serviceAccountOption } from "./operator-name.ts";
import {
  controllersOption,
  moduleConfigOption,
  namespaceOption,
  webhookHostOption,
  webhookServiceOption,
} from "./shared-options.ts";

/** The most replicas; a larger number is a mistake, because one leads or each has its part of the keys. */
export const MOST_REPLICAS = 64;

const options = [
  {
    name: "what",
    type: "string",
    positional: true,
    choices: ["crds", "rbac", "webhooks", "monitoring", "deploy"],
    describe: "crds, rbac, webhooks, monitoring or deploy",
  },
  {
    name: "image",
    type: "string",
    describe: "deploy: image that holds the binary and, in /controllers, the modules; else a ConfigMap holds them",
  },
  {
    name: "base-image",
    type: "string",
    describe: "deploy from a ConfigMap: image that holds the binary and runs it",
  },
  {
    name: "install-crds",
    type: "boolean",
    default: false,
    describe: "deploy and rbac: the process applies the CustomResourceDefinitions itself, and has the right to",
  },
  {
    name: "replicas",
    type: "number",
    default: 2,
    describe: "deploy: pods of the Deployment; one leads and the others stand by, unless --shards divides the work",
  },
  {
    name: "leader-elect",
    type: "string",
    default: "process",
    bare: "process",
    choices: ["false", "true", "process", "module"],
    describe: "deploy and rbac: elect one leader for all modules, or with `module` one for each; false for none",
  },
  {
    name: "metrics-secure",
    type: "boolean",
    default: false,
    describe:
      "deploy, rbac and monitoring: serve /metrics over TLS on port 8443, to those whom the API server lets read it",
  },
  {
    name: "shards",
    type: "string",
    describe: "deploy and rbac: divide the keys among so many replicas, or auto for all, instead of electing a leader",
  },
  {
    name: "inject-ca-from",
    type: "string",
    describe: "webhooks: namespace/name of the Certificate of cert-manager whose authority is to be trusted",
  },
  {
    name: "memory-limit",
    type: "string",
    default: "256Mi",
    describe: "deploy: most memory of a pod; 0 for no limit",
  },
  { name: "cpu-limit", type: "string", default: "0", describe: "deploy: most processors of a pod; 0 for no limit" },
  {
    name: "network-policy",
    type: "boolean",
    default: false,
    describe: "deploy: refuse connections but to webhooks, and to metrics from namespaces labelled metrics=enabled",
  },
  {
    name: "webhook-clients",
    type: "list",
    describe: "deploy: with --network-policy, the ranges of addresses of API servers, such as 10.0.0.0/28; repeatable",
  },
  { name: "metrics-service", type: "boolean", default: false, describe: "deploy: a Service for metrics" },
  {
    name: "service-monitor",
    type: "boolean",
    default: false,
    describe: "deploy: a ServiceMonitor of the Prometheus operator, and the Service",
  },
  {
    name: "monitoring",
    type: "boolean",
    default: false,
    describe: "deploy: what `manifests monitoring` prints: a ServiceMonitor, alerts, and dashboards of Grafana",
  },
  {
    name: "debug",
    type: "boolean",
    default: false,
    describe:
      "deploy and rbac: listen for `binnacle why`, `top` and the dashboard, in the pod only; a port-forward leads there",
  },
  {
    name: "kustomize",
    type: "string",
    describe: "deploy: write a base of kustomize into this folder instead of printing",
  },
  { name: "helm", type: "string", describe: "deploy: write a chart of Helm into this folder instead of printing" },
  { name: "chart-version", type: "string", default: "0.1.0", describe: "deploy --helm: version of the chart" },
  {
    name: "former",
    type: "string",
    describe: "deploy: file with the output of an earlier version; names its objects that are no longer needed",
  },
] as const;

/** An option of other commands, with a description of its own. */
type Described<O extends Option> = Omit<O, "describe"> & Pick<Option, "describe">;

type SharedOption =
  | typeof controllersOption
  | Described<typeof moduleConfigOption>
  | Described<typeof namespaceOption>
  | typeof nameOption
  | typeof serviceAccountOption
  | typeof webhookHostOption
  | Described<typeof webhookServiceOption>;

export const manifestsOptions: readonly (SharedOption | (typeof options)[number])[] = [
  controllersOption,
  {
    ...moduleConfigOption,
    describe: `${moduleConfigOption.describe}; deploy puts what is not secret into a ConfigMap`,
  },
  { ...namespaceOption, describe: "Namespace to work in; repeatable; a Role in each instead of a ClusterRole" },
  nameOption,
  serviceAccountOption,
  ...options,
  webhookHostOption,
  { ...webhookServiceOption, describe: `${webhookServiceOption.describe}; that of --service-account when left out` },
];

export type ManifestsValues = ValuesOf<typeof manifestsOptions>;
