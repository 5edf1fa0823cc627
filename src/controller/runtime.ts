/** The runtime of controllers: the parts that all controllers of a process share. */
import type { InformerRegistry } from "../cache/informer-registry.ts";
import type { Leadership } from "../client/leadership.ts";
import type { Shards } from "../client/shards.ts";
import type { EventRecorder } from "../events/recorder.ts";
import type { RunHistory } from "../history/run-history.ts";
import type { RequestTraces } from "../history/traces.ts";
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Clock } from "../platform/clock.ts";
import type { Services } from "../reconcile/services.ts";
import type { RunSettings } from "../settings/run-options.ts";
import type { DefinedKinds } from "./defined-kinds.ts";
import type { FinalizerClaims } from "./finalizer-claims.ts";
import type { NamedSources } from "./named-sources.ts";
import type { Pause } from "./pause.ts";
import type { RunHooks } from "./run-hooks.ts";
import type { Turns } from "./run-turns.ts";

export interface Runtime {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  readonly informers: InformerRegistry;
  readonly events: EventRecorder;
  readonly finalizers: FinalizerClaims;
  readonly definedKinds: DefinedKinds;
  readonly turns: Turns;
  /** The hooks that plugins put around runs. @default none */
  readonly hooks?: RunHooks | undefined;
  /** The sources that plugins offer. @default none */
  readonly sources?: NamedSources | undefined;
  /** The services that plugins provide to the code of all modules. @default none */
  readonly services?: Services | undefined;
  /** Decides whether controllers may run; writes are refused as soon as leadership is lost. */
  readonly leadership: Leadership;
  /** Prevents runs from beginning. @default nothing does */
  readonly pause?: Pause | undefined;
  /** The share of the keys on which this replica works; then `leadership` is the membership. @default all */
  readonly shards?: Shards | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The settings of the process, by the names of their flags. */
  readonly settings: RunSettings;
  /** Whether to warn once about each call that a controller did not declare: in `dev` and tests. */
  readonly warnUndeclared: boolean;
  /** Whether to log each run and its causes at level info, and not at debug: in `dev`. @default false */
  readonly logsRuns?: boolean | undefined;
  /** Whether Events report runs that keep failing on their objects. @default true */
  readonly reportsFailures?: boolean | undefined;
  /** Records the runs of all controllers. @default nothing is recorded */
  readonly history?: RunHistory | undefined;
  /** Makes spans of the requests to webhooks. @default none */
  readonly requestTraces?: RequestTraces | undefined;
}
