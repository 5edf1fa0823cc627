/** The values of a deployment: the needs of the modules, and the options of the command line. */
import type { ConfigField } from "../../module/config/fields.ts";
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import type { WebhookManifests } from "../webhook-manifests.ts";
import type { MountedFile } from "./config-map-files.ts";

export interface DeployPlan {
  readonly account: ServiceAccount;
  /** The namespaces in which the controllers work; empty for all. */
  readonly namespaces: readonly string[];
  /** Returns the roles and bindings for controllers that work in these namespaces. */
  readonly rbacFor: (namespaces: readonly string[]) => readonly object[];
  /** The CustomResourceDefinitions of the modules; empty when the process applies them itself. */
  readonly crds: readonly object[];
  /** Whether the process applies the definitions itself. */
  readonly installs: boolean;
  /** The image that holds the binary and, without files, the modules. */
  readonly image: string;
  /** The number of replicas. More than one need a leader, or shards. */
  readonly replicas: number;
  /** The value of `--leader-elect`; `undefined` for none. */
  readonly elects: "process" | "module" | undefined;
  /** The value of `--shards`; `undefined` when one replica leads. */
  readonly shards: string | undefined;
  /** Whether metrics are served over TLS to clients that the API server authorizes. */
  readonly secure: boolean;
  /** Quantities, such as `256Mi`; `undefined` for no limit. */
  readonly limits: { readonly memory: string | undefined; readonly cpu: string | undefined };
  readonly networkPolicy: boolean;
  /** The ranges of addresses from which webhooks are called; empty for all. */
  readonly webhookClients: readonly string[];
  readonly metricsService: boolean;
  readonly serviceMonitor: boolean;
  /** Whether there are a ServiceMonitor, alerts and dashboards. */
  readonly monitoring: boolean;
  /** Whether the process has a debug listener, which only port-forwards reach. */
  readonly debug: boolean;
  readonly webhooks: Pick<WebhookManifests, "service" | "shells" | "args">;
  /** Whether the executable contains the modules, instead of a folder of the image. @default false */
  readonly areInside?: boolean;
  /** The configuration of the modules; `undefined` when they have none. */
  readonly config?: DeployedConfig | undefined;
  /** The modules, for a ConfigMap; `undefined` when the image holds them. */
  readonly files: readonly MountedFile[] | undefined;
}

/** The configuration of all modules. */
export interface DeployedConfig {
  readonly fields: readonly DeployedField[];
  /** The name of the Secret. */
  readonly secret: string;
}

export interface DeployedField extends ConfigField {
  /** The name of the configuration. */
  readonly config: string;
  /** The value from the command line; `undefined` for a secret one. */
  readonly value: unknown;
}

/** The health port of the container. */
export const HEALTH_PORT = { name: "health", containerPort: 8081 } as const;

/** The loopback of the pod, which neither a Service nor a port of the container exposes. */
export const DEBUG_ARGUMENT = "--debug-bind-address=127.0.0.1:8082";

/** Returns the metrics port of the container; with TLS it is that of kubebuilder. */
export function metricsPort({ secure }: Pick<DeployPlan, "secure">): {
  readonly name: "metrics";
  readonly containerPort: number;
} {
  return { name: "metrics", containerPort: secure ? 8443 : 8080 };
}

/** Returns the labels that select the pods of the Deployment. */
export function selectorOf(name: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name };
}

export function labelsOf(name: string): Readonly<Record<string, string>> {
  return { ...selectorOf(name), "app.kubernetes.io/managed-by": "binnacle" };
}
