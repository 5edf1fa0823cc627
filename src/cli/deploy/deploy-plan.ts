/** What is to be deployed: the modules' share, and what the command line says. */
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import type { WebhookManifests } from "../webhook-manifests.ts";
import type { MountedFile } from "./config-map-files.ts";

export interface DeployPlan {
  readonly account: ServiceAccount;
  /** Where the controllers work; empty for everywhere. */
  readonly namespaces: readonly string[];
  /** The roles and bindings for controllers that work in these namespaces. */
  readonly rbacFor: (namespaces: readonly string[]) => readonly object[];
  /** The CustomResourceDefinitions of the modules; empty where the process applies them itself. */
  readonly crds: readonly object[];
  /** The process applies the definitions itself. */
  readonly installs: boolean;
  /** Holds the binary and, without files, the modules. */
  readonly image: string;
  /** More than one need a leader, or shards. */
  readonly replicas: number;
  /** The value of `--leader-elect`; `undefined` for none. */
  readonly elects: "process" | "module" | undefined;
  /** The value of `--shards`; `undefined` where one replica leads. */
  readonly shards: string | undefined;
  /** Metrics are served over TLS, to those whom the API server lets read them. */
  readonly secure: boolean;
  /** Quantities, such as `256Mi`; `undefined` for no limit. */
  readonly limits: { readonly memory: string | undefined; readonly cpu: string | undefined };
  readonly networkPolicy: boolean;
  readonly metricsService: boolean;
  readonly serviceMonitor: boolean;
  readonly webhooks: Pick<WebhookManifests, "service" | "shells" | "args">;
  /** The modules are inside the executable, and not in a folder of the image. @default false */
  readonly areInside?: boolean;
  /** The modules, for a ConfigMap; `undefined` when the image holds them. */
  readonly files: readonly MountedFile[] | undefined;
}

/** Of the container. */
export const HEALTH_PORT = { name: "health", containerPort: 8081 } as const;

/** Of the container; with TLS as kubebuilder's. */
export function metricsPort({ secure }: Pick<DeployPlan, "secure">): {
  readonly name: "metrics";
  readonly containerPort: number;
} {
  return { name: "metrics", containerPort: secure ? 8443 : 8080 };
}

/** What the pods of the Deployment are found by. */
export function selectorOf(name: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name };
}

export function labelsOf(name: string): Readonly<Record<string, string>> {
  return { ...selectorOf(name), "app.kubernetes.io/managed-by": "binnacle" };
}
