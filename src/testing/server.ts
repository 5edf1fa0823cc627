/** What a test's cluster consists of, embedded or real. */
import type { Clock } from "../platform/clock.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import type { PodBehaviour } from "../embedded/index.ts";
import type { ServiceAccount } from "../module/rbac-manifests.ts";
import type { Journal } from "./journal.ts";

export interface ServerOptions {
  /** How pods fare; `false` for none: they stay pending. @default every container runs and is ready at once */
  readonly pods?: PodBehaviour | false | undefined;
  /** Of the cluster's controllers and, embedded, of the server. @default the machine's clock */
  readonly clock?: Clock | undefined;
  readonly journal: Journal;
}

/** Runs until it is stopped. */
export interface Server {
  /** An administrator's way to it, through the journal. */
  readonly config: ClusterConfig;
  /** An administrator's way that the journal does not see: to prepare what a test is not about. */
  readonly backstage: ClusterConfig;
  /** A service account's way, through the journal; it may do nothing until it is granted. */
  as(account: ServiceAccount): Promise<ClusterConfig>;
  /** A kubeconfig: YAML. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}
