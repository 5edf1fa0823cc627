/** Creates the parts that a whole process shares. */
import { hostname } from "node:os";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { alwaysLeader } from "../client/leadership.ts";
import { openGate } from "../kube/transport/write-gate.ts";
import { DefinedKinds } from "../controller/defined-kinds.ts";
import { FinalizerClaims } from "../controller/finalizer-claims.ts";
import { Pause } from "../controller/pause.ts";
import { NamedSources } from "../controller/named-sources.ts";
import { RunHooks } from "../controller/run-hooks.ts";
import { ImmediateTurns, RunTurns } from "../controller/run-turns.ts";
import { EventRecorder } from "../events/recorder.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import type { KubeRequest } from "../kube/transport/kube-request.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import { createMetrics } from "../observe/metrics.ts";
import { hostBound, hostClock } from "../platform/as-host.ts";
import { monotonic, systemClock } from "../platform/clock.ts";
import { Services } from "../reconcile/services.ts";
import { HealthChecks } from "../server/health-checks.ts";
import { runSettings } from "../settings/run-options.ts";
import { AccountAccess } from "./account-access.ts";
import { Elections } from "./elections.ts";
import type { ManagerOptions } from "./manager-options.ts";
import type { Process } from "./process.ts";
import { Sharding } from "./sharding.ts";

/** Creates the shared parts of a process. Nothing listens or sends anything yet. */
export function createProcess(options: ManagerOptions, stopping: AbortSignal): Process {
  const { log, development = false, history } = options;
  const settings = runSettings(options.settings);
  const { namespace: namespaces = [], "kube-api-qps": qps, "kube-api-burst": burst } = settings;
  const health = { healthz: new HealthChecks(), livez: new HealthChecks(), readyz: new HealthChecks() };
  const metrics = createMetrics({ host: new URL(options.cluster.server).host });
  // Modules call the SDK in their own context; connections and timers that it opens for them must outlive them.
  const clock = hostClock(options.clock ?? systemClock);
  const connectionClock = options.connectionClock === undefined ? clock : hostClock(options.connectionClock);
  const access = options.access && new AccountAccess(options.access, { clock: connectionClock, namespaces });
  const connection = createTransport(access?.through(options.cluster) ?? options.cluster, {
    clock: connectionClock,
    rate: qps === undefined ? undefined : { qps, burst },
    onWarning: (text) => log.warn("The API server warns", { warning: text }),
    userAgent: userAgent(options.version),
    onRequest: (method, code) => metrics.requests.observe(method, code),
  });
  const transport = hostBound(connection);
  const installer = options.installer && createTransport(options.installer, { clock: connectionClock });
  const mapper = new RestMapper(transport);
  const informers = new InformerRegistry({
    transport: connection,
    mapper,
    log,
    clock: connectionClock,
    freeze: development,
    room: options.memory,
    onEvent: history && ((object, old, isPartial) => history.event(object, old, isPartial)),
  });
  const events = new EventRecorder({ transport, gate: openGate, clock, log, metrics, instance: hostname() });
  const turns = options.runsAtOnce === true ? new ImmediateTurns() : new RunTurns();
  const electing = {
    transport: turns instanceof RunTurns ? leaseFirst(connection, hostBound(turns)) : connection,
    clock: hostClock(monotonic(options.clock)),
    wall: clock,
    log,
    metrics,
    events,
    ...health,
  };
  const sharding = options.sharding && new Sharding(options.sharding, electing);
  return {
    transport,
    connection,
    installer: installer === undefined ? transport : hostBound(installer),
    mapper,
    informers,
    events,
    access,
    elections: options.election && new Elections(options.election, electing),
    sharding,
    shards: sharding?.shards,
    leadership: alwaysLeader,
    finalizers: new FinalizerClaims({ clock, log }),
    definedKinds: new DefinedKinds(),
    turns: hostBound(turns),
    hooks: new RunHooks(),
    sources: new NamedSources(),
    services: new Services(),
    pause: options.pause ?? new Pause(),
    settings,
    health,
    metrics,
    log,
    clock,
    connectionClock,
    stopping,
    development,
    // A call that the account may not make is refused, and the error names the line to add.
    warnUndeclared: development && options.access === undefined,
    logsRuns: options.logsRuns,
    reportsFailures: options.reportsFailures,
    history,
    requestTraces: options.requestTraces,
  };
}

/** Makes runs wait for requests for the Lease, which is lost when it is renewed too late. */
function leaseFirst(
  transport: Transport,
  turns: Pick<RunTurns, "giveWay">,
): Pick<Transport, "request" | "stream" | "endRefused"> {
  return {
    request: <T>(request: KubeRequest): Promise<T> => {
      const answer = transport.request<T>(request);
      if (request.traffic === "lease") turns.giveWay(answer);
      return answer;
    },
    stream: (request) => transport.stream(request),
    endRefused: () => transport.endRefused(),
  };
}

/** Returns a text such as `binnacle/1.2.3 (linux/x64)`. */
function userAgent(version: string | undefined): string {
  return `binnacle${version === undefined ? "" : `/${version}`} (${process.platform}/${process.arch})`;
}
