/** Runs the modules of the controllers folders against a cluster, until a signal. */
import { hostname } from "node:os";
import { memoryLimit } from "../platform/memory-limit.ts";
import { isDebugged } from "#runtime/self";
import { findModules, loadAll } from "../loader/load-all.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import type { AccessOptions } from "../manager/account-access.ts";
import type { Pause } from "../controller/pause.ts";
import type { ElectionOptions } from "../manager/elections.ts";
import type { RunHistory } from "../history/run-history.ts";
import { loadConfigOf } from "../loader/module-config.ts";
import { protectSharedObjects } from "../loader/shared-objects.ts";
import { MemoryGuard } from "../manager/memory-guard.ts";
import { Manager } from "../manager/manager.ts";
import { StallWatch } from "../manager/stall-watch.ts";
import type { RootLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { disabledBy } from "../platform/switches.ts";
import { messageOf } from "../platform/error-message.ts";
import type { Host } from "./command.ts";
import { sourcesOf, tellUnusedKeys } from "./config-messages.ts";
import { electionOf, shardingOf } from "./election-options.ts";
import { metricsCertificates } from "./metrics-options.ts";
import type { RunSettings } from "../settings/run-options.ts";
import type { Traces } from "../tracing/traces.ts";
import { wantsTraces } from "../tracing/wanted.ts";
import { startModules } from "./start-modules.ts";
import { UsageError, UserError } from "./usage-error.ts";
import { findHost } from "./find-host.ts";
import { webhooksOf } from "./webhook-options.ts";

/** Memory for the records of traced runs while they go on; a span is made of each at its end. */
const TRACED_BYTES = 2 ** 20;

export interface RunOptions {
  readonly host: Host;
  readonly log: RootLog;
  /** The format of the log's lines. */
  readonly format: "json" | "pretty";
  /** Resolves when everything is to end. */
  readonly signalled: Promise<void>;
  /** Finds the cluster while the modules load. */
  readonly cluster: () => Promise<ClusterConfig>;
  /** Restricts the modules to exactly what they declare. @default no restriction */
  readonly access?: AccessOptions | undefined;
  /** Freezes cached objects, warns of undeclared calls, and logs each run. @default false */
  readonly development?: boolean | undefined;
  /** Whether webhooks may be served on an address other than the default, if the cluster needs that. @default false */
  readonly mayListenElsewhere?: boolean | undefined;
  /** The election to take part in. @default the one of the options, and none in development */
  readonly election?: ((cluster: ClusterConfig, modules: readonly string[]) => Promise<ElectionOptions>) | undefined;
  /** Keeps runs from beginning. @default nothing does */
  readonly pause?: Pause | undefined;
  /** Called when every module has been started or is known to be broken. */
  readonly onStarted?: ((manager: Manager) => void) | undefined;
  /** Called when every module has been started, and whenever something in the folders may have changed. */
  readonly onLook?: (() => void) | undefined;
}

/** Runs the modules. @returns the exit status. @throws UsageError, UserError. */
export async function runControllers(values: RunSettings, options: RunOptions): Promise<number> {
  const { host, log, signalled, development } = options;
  await using secureMetrics = metricsCertificates(values, log);
  using stalls = new StallWatch({
    thread: host.embedded.stallThread,
    warnAfter: values["stall-warning"],
    endAfter: isDebugged() ? 0 : values["stall-timeout"],
    log,
    format: options.format,
  });
  const limit = memoryLimit(values["memory-limit"]);
  using memory = limit && new MemoryGuard({ limit, log });
  if (values["kube-api-burst"] !== undefined && values["kube-api-qps"] === undefined) {
    throw new UsageError("--kube-api-burst is given without --kube-api-qps: add it, or leave both out for no limit");
  }
  const inside = values.controllers.length === 0 ? host.embedded.operator?.modules : undefined;
  if (inside !== undefined && values.watch) {
    throw new UsageError(
      "--watch is for a folder, and the modules are inside this executable: name one with --controllers",
    );
  }
  const entries = inside ?? findModules(values.controllers);
  const origin = { env: host.env, paths: values["module-config"] ?? [] };
  const sources = await sourcesOf(origin);
  // Reports an error that a module throws while it loads together with the module; the registry reports later errors.
  let report = (module: string, error: unknown): void =>
    log.error("A module failed: code outside of a run", { module, error });
  const loading = host.embedded.offered().then((offered) => {
    const { version } = host.embedded;
    const load = { offered, version, onError: (module: string, error: unknown) => report(module, error) };
    return { load, loaded: loadAll(entries, { ...load, config: loadConfigOf(sources, entries) }) };
  });
  loading.catch(() => {}); // this is awaited below, unless something before it fails
  const disabled = disabledBy(host.env);
  if (disabled.length > 0) log.info("Optimizations are switched off by the environment", { variables: disabled });
  const cluster = await options.cluster();
  const modulesFound = entries.map(({ name }) => name);
  const election =
    options.election !== undefined
      ? await options.election(cluster, modulesFound)
      : development
        ? undefined
        : electionOf(values, cluster);
  const sharding = development ? undefined : shardingOf(values, cluster);
  const webhooks = await webhooksOf(values, {
    isEmbedded: cluster.answer !== undefined,
    development: development === true,
    mayListenElsewhere: options.mayListenElsewhere === true && cluster.answer === undefined,
    election: election ?? sharding,
    findHost: () => findHost(cluster, log),
  });
  const name = host.embedded.operator?.name;
  await using traces = await tracesOf(host, { log, cluster, service: name });
  const history = await historyOf(values, traces);
  await using manager = new Manager({
    cluster,
    log,
    rootLog: log,
    history,
    requestTraces: traces,
    settings: values,
    secureMetrics,
    webhooks,
    memory,
    access: options.access,
    installer: options.access?.administrator,
    election,
    sharding,
    pause: options.pause,
    development,
    logsRuns: development,
    version: host.embedded.version,
  });
  report = (module, error) => manager.modules.reportError(module, error);
  stalls.show(manager.metrics);
  using _resuming = resumeOnSignal(manager, log);
  await manager.start().catch((error: unknown) => {
    throw new UserError(messageOf(error), { cause: error });
  });
  log.info("Running", {
    version: host.embedded.version,
    server: cluster.server,
    context: cluster.context,
    modules: entries.length,
  });
  const { load, loaded: modules } = await loading;
  const loaded = await Promise.race([
    signalled,
    startModules(modules, { manager, strict: values.strict, sources, entries }),
  ]);
  using _protected = protectSharedObjects({
    onChange: (changed) =>
      log.error("Code of a module has changed built-in objects, which all modules share: they are restored", {
        changed,
      }),
  });
  manager.loaded();
  if (manager.address("webhook") !== undefined && webhooks?.registration === undefined) {
    log.warn("Webhooks are served but cannot be registered: say how the API server reaches them", {
      inTheCluster: "--webhook-service namespace/name",
      outside: "--webhook-host of this machine",
    });
  }
  if (loaded !== undefined) {
    tellUnusedKeys(loaded, sources, log);
    options.onStarted?.(manager);
    options.onLook?.();
  }
  if ((values.watch || origin.paths.length > 0) && loaded !== undefined) {
    const [{ ModuleWatcher }, { ConfigFollower }] = await Promise.all([
      import("../loader/module-watcher.ts"),
      import("../loader/config-follower.ts"),
    ]);
    const { onLook } = options;
    const config = new ConfigFollower(origin, { sources, log });
    const folders = values.watch ? values.controllers : [];
    await using _watcher = new ModuleWatcher(folders, { ...load, loaded, log, target: manager, onLook, config });
    await signalled;
  }
  await signalled;
  return 0;
}

/** Makes spans when the environment names a collector; otherwise nothing of tracing is loaded. */
async function tracesOf(
  { env, embedded: { version } }: Host,
  {
    cluster,
    ...about
  }: { readonly log: RootLog; readonly cluster: ClusterConfig; readonly service: string | undefined },
): Promise<Traces | undefined> {
  if (!wantsTraces(env)) return undefined;
  const { server, context, namespace } = cluster;
  const { Traces } = await import("../tracing/traces.ts");
  return new Traces({ ...about, env, version, server, podNamespace: context === "in-cluster" ? namespace : undefined });
}

/** Runs are recorded for the debug listener and for traces; without both nothing of the recorder is loaded. */
async function historyOf(values: RunSettings, traces: Traces | undefined): Promise<RunHistory | undefined> {
  const recordsAll = values["debug-bind-address"] !== "0";
  if (!recordsAll && traces === undefined) return undefined;
  const { RunHistory } = await import("../history/run-history.ts");
  const bytes = recordsAll ? values["debug-memory"] : TRACED_BYTES;
  return new RunHistory({ bytes, clock: systemClock, replica: hostname(), traces, recordsAll });
}

/** SIGUSR2 resumes controllers that are slowed or suspended because of failing runs. */
function resumeOnSignal({ modules }: Manager, log: RootLog): Disposable {
  const onSignal = (): void => {
    log.info("Controllers that were slowed or suspended are resumed", { signal: "SIGUSR2" });
    modules.resume();
  };
  process.on("SIGUSR2", onSignal);
  return { [Symbol.dispose]: () => void process.off("SIGUSR2", onSignal) };
}
