/** The parts of a test's cluster, embedded or real. */
import type { Clock } from "../platform/clock.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import type { PodBehaviour } from "../cluster/index.ts";
import type { ServiceAccount } from "../module/rbac-manifests.ts";
import type { Resource } from "../resource/handle.ts";
import type { Journal } from "./journal.ts";

export interface ServerOptions {
  /**
   * The behaviour of pods; with `false` they stay pending.
   *
   * @default every container is ready at once; those of a pod whose `restartPolicy` is OnFailure or Never, such as a
   * Job's, end at once with success, and others run on
   */
  readonly pods?: PodBehaviour | false | undefined;
  /** The clock of the cluster's controllers and, if embedded, of the server. @default the machine's clock */
  readonly clock?: Clock | undefined;
  readonly journal: Journal;
}

/** Runs until it is stopped. */
export interface Server {
  /** An administrator's access, which the journal records. */
  readonly config: ClusterConfig;
  /** An administrator's access that the journal does not record, for preparations that are not part of the test. */
  readonly backstage: ClusterConfig;
  /** A service account's access, which the journal records; it has no permissions until they are granted. */
  as(account: ServiceAccount): Promise<ClusterConfig>;
  /** Called before a module installs its kinds: kinds of an earlier test with other definitions are removed. */
  prepare?(kinds: readonly Resource[]): Promise<void>;
  /** A kubeconfig as YAML. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** Returns the same cluster with requests that a function serves. */
export function withAnswer(config: ClusterConfig, answer: (request: Request) => Promise<Response>): ClusterConfig {
  const { server, context, user, namespace } = config;
  return {
    server,
    context,
    user,
    namespace,
    get tls() {
      return config.tls;
    },
    answer,
    headers: (signal) => config.headers(signal),
    reload: () => config.reload(),
  };
}
