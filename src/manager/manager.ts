/** Puts a process together: what starts and what stops, in which order, with the reason of each step. */
import { hostname } from "node:os";
import { InformerRegistry } from "../cache/informer-registry.ts";
import { alwaysLeader } from "../client/leadership.ts";
import { openGate } from "../client/write-gate.ts";
import { DefinedKinds } from "../controller/defined-kinds.ts";
import { FinalizerClaims } from "../controller/finalizer-claims.ts";
import { ImmediateTurns, RunTurns } from "../controller/run-turns.ts";
import { NamedSources } from "../controller/named-sources.ts";
import { RunHooks } from "../controller/run-hooks.ts";
import type { Runtime } from "../controller/runtime.ts";
import { createEventRecorder } from "../events/recorder.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import type { KubeRequest } from "../kube/transport/kube-request.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import { ModuleRegistry } from "../module/module-registry.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { createMetrics, type Metrics } from "../observe/metrics.ts";
import { hostBound, hostClock } from "../platform/as-host.ts";
import { type Clock, monotonic, sleep, systemClock } from "../platform/clock.ts";
import { healthApp } from "../server/health-app.ts";
import { HealthChecks } from "../server/health-checks.ts";
import { type Listeners, startListeners } from "../server/listeners.ts";
import type { Connection } from "../server/local-request.ts";
import { metricsApp } from "../server/metrics-app.ts";
import { Elections } from "./elections.ts";
import { AccountAccess } from "./account-access.ts";
import { Webhooks } from "./webhooks.ts";
import { runSettings } from "../settings/run-options.ts";
import { Services } from "../reconcile/services.ts";
import { addInformerMetrics } from "./informer-metrics.ts";
import { isolate } from "./isolation.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { addModuleMetrics } from "./module-metrics.ts";
import { ModuleStart } from "./module-start.ts";
import { Readiness } from "./readiness.ts";
import { Sharding } from "./sharding.ts";
import { activeRuns, openParts, type StopStep, stopInOrder } from "./stop-steps.ts";

/** Milliseconds for taking the address of this process out of definitions. */
const GIVE_BACK_WITHIN = 5_000;

/** One process: a cluster, listeners, and modules that come and go. */
export class Manager implements AsyncDisposable {
  readonly modules: ModuleRegistry;
  readonly metrics: Metrics;
  readonly #options: ManagerOptions;
  readonly #health = { healthz: new HealthChecks(), livez: new HealthChecks(), readyz: new HealthChecks() };
  readonly #transport: Transport;
  readonly #start: ModuleStart;
  readonly #installer: Transport | undefined;
  readonly #connectionClock: Clock;
  readonly #runtime: Runtime;
  readonly #elections: Elections | undefined;
  readonly #sharding: Sharding | undefined;
  readonly webhooks: Webhooks;
  readonly #stopping = new AbortController();
  readonly #isolation: Disposable | undefined;
  readonly #reachability: Disposable;
  readonly #readiness: Readiness;
  #listeners: Listeners | undefined;
  #stopped: Promise<void> | undefined;

  /** Creates the manager, which neither listens nor sends anything before {@link start}. */
  constructor(options: ManagerOptions) {
    const { log, development = false } = options;
    const settings = runSettings(options.settings);
    const { namespace: namespaces = [], "kube-api-qps": qps, "kube-api-burst": burst } = settings;
    this.#options = options;
    this.metrics = createMetrics({ host: new URL(options.cluster.server).host });
    if (options.isolate !== false) this.#isolation = isolate({ log, metrics: this.metrics });
    // Modules call the SDK in their own context; what it opens for them must outlive them.
    const clock = hostClock(options.clock ?? systemClock);
    this.#connectionClock = options.connectionClock === undefined ? clock : hostClock(options.connectionClock);
    const timed = { clock: this.#connectionClock };
    const access = options.access && new AccountAccess(options.access, { ...timed, namespaces });
    const cluster = access?.through(options.cluster) ?? options.cluster;
    this.#transport = createTransport(cluster, {
      clock: this.#connectionClock,
      rate: qps === undefined ? undefined : { qps, burst },
      onWarning: (text) => log.warn("The API server warns", { warning: text }),
      userAgent: userAgent(options.version),
      onRequest: (method, code) => this.metrics.requests.observe(method, code),
    });
    const transport = hostBound(this.#transport);
    const mapper = new RestMapper(transport);
    const { healthz, readyz } = this.#health;
    const runTurns = options.runsAtOnce === true ? undefined : hostBound(new RunTurns());
    const electing = {
      transport: runTurns === undefined ? this.#transport : leaseFirst(this.#transport, runTurns),
      clock: hostClock(monotonic(options.clock)),
      wall: clock,
      log,
      metrics: this.metrics,
      healthz,
      readyz,
    };
    this.#sharding = options.sharding && new Sharding(options.sharding, electing);
    this.#runtime = {
      transport,
      mapper,
      informers: new InformerRegistry({
        transport: this.#transport,
        mapper,
        log,
        clock: this.#connectionClock,
        freeze: development,
        room: options.memory,
      }),
      events: createEventRecorder({
        transport,
        gate: openGate,
        clock,
        log,
        metrics: this.metrics,
        instance: hostname(),
      }),
      finalizers: new FinalizerClaims({ clock, log }),
      definedKinds: new DefinedKinds(),
      turns: runTurns ?? hostBound(new ImmediateTurns()),
      hooks: new RunHooks(),
      sources: new NamedSources(),
      services: new Services(),
      leadership: alwaysLeader,
      pause: options.pause,
      shards: this.#sharding?.shards,
      settings,
      clock,
      log,
      metrics: this.metrics,
      // A call that the account may not make is refused, and the error names the line to add.
      warnUndeclared: development && options.access === undefined,
      logsRuns: options.logsRuns,
      reportsFailures: options.reportsFailures,
    };
    this.#elections =
      options.election && new Elections(options.election, { ...electing, events: this.#runtime.events });
    this.#installer = options.installer && createTransport(options.installer, timed);
    this.webhooks = new Webhooks(options.webhooks, {
      runtime: this.#runtime,
      transport: this.#installer === undefined ? transport : hostBound(this.#installer),
      readyz: this.#health.readyz,
      clock: this.#connectionClock,
      freeze: development,
      plugins: (request, connection) => this.#plugin(request, connection),
      leadership: () => this.#elections?.ofProcess() ?? this.#sharding?.ofProcess() ?? alwaysLeader,
      isComplete: () => this.modules.statuses().every(({ name }) => this.modules.has(name)),
      onError: (module) => this.modules.countError(module),
    });
    this.modules = new ModuleRegistry(this.#runtime, {
      webhooks: this.webhooks.host,
      health: this.#health,
      leaderships: this.#elections ?? this.#sharding,
    });
    this.#start = new ModuleStart({
      modules: this.modules,
      webhooks: this.webhooks.host,
      conversionClient: this.webhooks.conversionClient,
      installer: settings["install-crds"] ? (this.#installer ?? transport) : undefined,
      retries: options.retryInstalling !== false,
      access,
      clock,
      connectionClock: this.#connectionClock,
      log,
      signal: this.#stopping.signal,
    });
    addInformerMetrics(this.metrics, { informers: this.#runtime.informers, clock: this.#connectionClock });
    addModuleMetrics(this.metrics, this.modules);
    options.memory?.show({ metrics: this.metrics, readyz, informers: this.#runtime.informers });
    this.#readiness = new Readiness({
      modules: this.modules,
      transport: this.#transport,
      clock: this.#connectionClock,
      stopping: this.#stopping.signal,
      development,
    });
    readyz.add("controllers", () => this.#readiness.notReady());
    this.#reachability = this.#transport.reachability.onChange((reachable) => {
      if (reachable) log.info("The API server answers again", { server: cluster.server });
      else log.warn("Cannot reach the API server: trying again until it answers", { server: cluster.server });
    });
  }

  /**
   * 1. Listeners: probes and scrapers get an answer while the rest starts, and a port in use is known before any work.
   * 2. Registrations of webhooks that a process before this one left: they would be in the way of all that follows.
   * 3. Modules, each by {@link add}: its CustomResourceDefinitions (its controllers would only wait for them), its
   *    plugins (its controllers may use what they set up), its controllers, its runnables.
   * 4. {@link loaded}: webhooks are registered, and `/readyz` asks only whether the controllers have synced.
   *
   * @throws Error naming the flag and the address that cannot be listened on.
   */
  async start(): Promise<void> {
    const { secureMetrics: certificates, log } = this.#options;
    const { settings } = this.#runtime;
    const secured = certificates && { certificates, transport: this.#installer ?? this.#transport };
    this.#listeners = await startListeners(
      [
        { name: "health-probe", address: settings["health-probe-bind-address"], app: this.#healthApp() },
        { name: "metrics", address: settings["metrics-bind-address"], app: metricsApp(this.metrics), secured },
      ],
      { log },
    );
    await this.webhooks.begin(this.#stopping.signal);
    log.info("Listening", { health: this.address("health-probe") ?? "off", metrics: this.address("metrics") ?? "off" });
  }

  /** The address of a listener, such as `127.0.0.1:8081`; that of webhooks exists once there are some. */
  address(name: "health-probe" | "metrics" | "webhook"): string | undefined {
    return name === "webhook" ? this.webhooks.address : this.#listeners?.address(name);
  }

  /** The elections that this process takes part in; `undefined` when it always works. */
  get elections(): Pick<Elections, "isLeader" | "leaderIsKnown"> | undefined {
    return this.#elections;
  }

  /** Whether the stop has begun, which causes failures from then on. */
  get stopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /**
   * Starts a module. If the server refuses its CustomResourceDefinitions, the module is postponed and tried again.
   *
   * @throws what keeps it from running for good; then the caller disposes of it.
   */
  add(module: LoadedModule): Promise<void> {
    return this.#start.begin(module, () => this.modules.add(module));
  }

  /** Starts a new version of a module after the old one drained. @throws as {@link add}. */
  replace(module: LoadedModule): Promise<void> {
    return this.#start.begin(module, () => this.modules.replace(module));
  }

  /** Ends a module, and revokes what it was permitted. */
  remove(name: string): Promise<void> {
    return this.#start.end(name);
  }

  /** Called when all modules that were found at start have been added, or are known to be broken. */
  loaded(): void {
    this.#readiness.loaded();
    this.#elections?.allLoaded();
    this.#sharding?.start();
    this.webhooks.loaded();
  }

  /**
   * Stops everything, in this order, within the grace period and a moment for each step that needs more. Never throws; a step
   * that fails or does not end is logged, and the next one follows.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    const { clock, informers, events, log, settings } = this.#runtime;
    const { "grace-period": grace, "shutdown-delay-duration": shutdownDelay } = settings;
    const steps: readonly StopStep[] = [
      {
        what: "readiness",
        why: "a process that is leaving gets no new traffic, and a start that still installs something gives up",
        run: () => {
          this.#stopping.abort(new Error("The process is stopping"));
          this.webhooks.retire();
        },
      },
      {
        what: "delay",
        why: "clients of webhooks and routes have time to learn of it, while everything keeps working and controllers lead",
        run: () => (shutdownDelay > 0 ? sleep(shutdownDelay, { clock }) : undefined),
        before: shutdownDelay,
      },
      {
        what: "sources",
        why: "nothing begins that would delay the stop; the next process has the queued keys too",
        run: () => this.modules.quiesce(),
      },
      {
        what: "runs",
        why: "active runs end within the grace period, while caches, client and events still work",
        run: () => this.modules.drain(),
        open: () => activeRuns(this.modules),
      },
      {
        what: "webhooks",
        why: "runs may need conversions until now; active admissions end while their modules and caches work",
        run: async (left) => {
          // What keeps the registrations would put the address back.
          await this.webhooks.unregister({ grace: left });
          await this.#start.giveBack(Math.min(left, GIVE_BACK_WITHIN));
          await this.webhooks.stop({ grace: left });
        },
        atLeast: 3_000, // registrations that nobody answers would be in the way of all writes
      },
      {
        what: "modules",
        why: "remaining runs are cut off, and nothing needs the plugins any more",
        run: () => this.modules.stop(),
        open: () => openParts(this.modules),
      },
      {
        what: "events",
        why: "the last runs may have recorded some, and no run records more; the last Event says that this process leads no more",
        run: () => {
          this.#elections?.resigning();
          return events.close();
        },
      },
      {
        what: "election",
        why: "the next leader begins at once, so nothing of ours may be written from here on",
        run: () => Promise.all([this.#elections?.stop(), this.#sharding?.stop()]),
        atLeast: 5_000, // the release is tried again for so long
      },
      {
        what: "informers",
        why: "nobody reads them any more",
        run: () => informers.stop(),
        open: () => informers.stopping,
      },
      {
        what: "connections",
        why: "events and informers have sent everything",
        run: async () => {
          this.#reachability[Symbol.dispose]();
          this.#readiness[Symbol.dispose]();
          await Promise.all([this.#transport.close(), this.#installer?.close(), this.#start.close()]);
        },
      },
      {
        what: "listeners",
        why: "probes must find the process alive until its work is done, and the last metrics can be read",
        run: () => this.#listeners?.stop(),
      },
      {
        what: "isolation",
        why: "errors of all previous steps are still logged",
        run: () => this.#isolation?.[Symbol.dispose](),
      },
    ];
    await stopInOrder(steps, { grace, clock, log });
  }

  /** Answers a request as the health listener does: with its checks and the routes of plugins. */
  async answer(request: Request): Promise<Response> {
    return this.#healthApp().fetch(request);
  }

  #healthApp(): ReturnType<typeof healthApp> {
    return healthApp(this.#health).all("/plugins/:plugin/*", (context) =>
      this.#plugin(context.req.raw, (context.env as Connection | undefined) ?? {}),
    );
  }

  /** Serves routes of plugins, without the prefix under which they are mounted. */
  async #plugin(request: Request, connection: Connection): Promise<Response> {
    const url = new URL(request.url);
    const [prefix = "", plugin = ""] = /^\/plugins\/([^/]+)/.exec(url.pathname) ?? [];
    url.pathname = url.pathname.slice(prefix.length) || "/";
    const answer =
      plugin === "" ? undefined : await this.modules.answer(plugin, { request: new Request(url, request), connection });
    return answer ?? new Response("404 page not found\n", { status: 404 });
  }
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
