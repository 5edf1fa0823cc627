/** The options of a process: its cluster, its listeners, and how its modules run. */
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import type { Pause } from "../controller/pause.ts";
import type { RunHistory } from "../history/run-history.ts";
import type { Log, RootLog } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { RequestTraces } from "../history/traces.ts";
import type { CertificateSource } from "../server/certificate-source.ts";
import type { SomeSettings } from "../settings/run-options.ts";
import type { MemoryGuard } from "./memory-guard.ts";
import type { AccessOptions } from "./account-access.ts";
import type { ElectionOptions } from "./elections.ts";
import type { ShardingOptions } from "./sharding.ts";
import type { WebhooksOptions } from "./webhooks.ts";

export interface ManagerOptions {
  readonly cluster: ClusterConfig;
  readonly log: Log;
  /** The log whose lines and levels the debug listener shows and changes. @default there is no debug listener */
  readonly rootLog?: RootLog | undefined;
  /** The settings, by the names of their flags. @default those of `runSettings`: no listeners */
  readonly settings?: SomeSettings | undefined;
  /**
   * Serves metrics over TLS with this certificate, to callers whom the API server permits to read them.
   *
   * @default to everybody
   */
  readonly secureMetrics?: CertificateSource | undefined;
  /** The address and the certificate of webhooks, and their registration with the API server. @default no webhooks */
  readonly webhooks?: WebhooksOptions | undefined;
  /** Keeps the process below the limit of its memory. @default memory has no limit */
  readonly memory?: MemoryGuard | undefined;
  /** Keeps runs from beginning while it is on. @default nothing does */
  readonly pause?: Pause | undefined;
  /**
   * Restricts the modules to their declared permissions, when `cluster` is reached as this account.
   *
   * @default no restriction
   */
  readonly access?: AccessOptions | undefined;
  /** The account that installs CustomResourceDefinitions when the modules' own may not. @default `cluster` */
  readonly installer?: ClusterConfig | undefined;
  /** Retries an installation that the server refuses, instead of throwing. @default true */
  readonly retryInstalling?: boolean | undefined;
  /** Freezes cached objects and warns about undeclared calls. @default false */
  readonly development?: boolean | undefined;
  /** Elects a leader among the replicas of this process. @default none: this process always works */
  readonly election?: ElectionOptions | undefined;
  /** Divides the keys among the replicas; excludes `election`. @default none: this process works on all keys */
  readonly sharding?: ShardingOptions | undefined;
  /** Logs each run with its causes at level info instead of debug. @default false */
  readonly logsRuns?: boolean | undefined;
  /** Records an Event for an object whose runs keep failing. @default true */
  readonly reportsFailures?: boolean | undefined;
  /** Records the runs of all controllers. @default nothing is recorded */
  readonly history?: RunHistory | undefined;
  /** Makes spans of the requests to webhooks. @default none */
  readonly requestTraces?: RequestTraces | undefined;
  /** Starts runs between events that have arrived, instead of after all of them. @default false */
  readonly runsAtOnce?: boolean | undefined;
  /** Logs errors that nothing in the process caught, instead of letting them end the process. @default true */
  readonly isolate?: boolean | undefined;
  /** The binary's version, which the server's audit log shows. @default none */
  readonly version?: string | undefined;
  /** The clock by which controllers wait and retry. @default systemClock */
  readonly clock?: Clock | undefined;
  /**
   * The clock of requests, watches and installations; a test's clock must not make a server look slow.
   *
   * @default `clock`
   */
  readonly connectionClock?: Clock | undefined;
}
