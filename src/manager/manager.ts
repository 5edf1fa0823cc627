/** One process: a cluster, listeners, and modules that come and go. */
import type { LoadedModule } from "../module/loaded-module.ts";
import { ModuleRegistry } from "../module/module-registry.ts";
import type { Metrics } from "../observe/metrics.ts";
import { sleep } from "../platform/clock.ts";
import { healthApp } from "../server/health-app.ts";
import { type Listeners, startListeners } from "../server/listeners.ts";
import type { Connection } from "../server/local-request.ts";
import { metricsApp } from "../server/metrics-app.ts";
import type { DebugListener } from "./debug/debug-listener.ts";
import type { Elections } from "./elections.ts";
import { addInformerMetrics } from "./informer-metrics.ts";
import { isolate } from "./isolation.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { addModuleMetrics } from "./module-metrics.ts";
import { ModuleStart } from "./module-start.ts";
import { createProcess } from "./create-process.ts";
import type { Process } from "./process.ts";
import { Readiness } from "./readiness.ts";
import { activeRuns, openParts, type StopStep, stopInOrder } from "./stop-steps.ts";
import { watchServer } from "./server-silence.ts";
import { Webhooks } from "./webhooks.ts";

/** Milliseconds for removing the address of this process from definitions. */
const GIVE_BACK_WITHIN = 5_000;

export class Manager implements AsyncDisposable {
  readonly modules: ModuleRegistry;
  readonly webhooks: Webhooks;
  readonly #options: ManagerOptions;
  readonly #process: Process;
  readonly #start: ModuleStart;
  readonly #stopping = new AbortController();
  readonly #isolation: Disposable | undefined;
  readonly #reachability: Disposable;
  readonly #readiness: Readiness;
  #listeners: Listeners | undefined;
  #debug: DebugListener | undefined;
  #stopped: Promise<void> | undefined;

  /** Creates the manager, which neither listens nor sends anything before {@link start}. */
  constructor(options: ManagerOptions) {
    this.#options = options;
    const process = createProcess(options, this.#stopping.signal);
    const { metrics, health, elections, sharding, connection } = process;
    this.#process = process;
    this.#isolation = options.isolate === false ? undefined : isolate(process);
    this.webhooks = new Webhooks(process, options.webhooks, {
      plugins: (request, connection) => this.#plugin(request, connection),
      isComplete: () => this.modules.statuses().every(({ name }) => this.modules.has(name)),
      onError: (module) => this.modules.countError(module),
    });
    this.modules = new ModuleRegistry(process, {
      health,
      webhooks: this.webhooks.host,
      leaderships: elections ?? sharding,
    });
    this.#start = new ModuleStart(process, {
      modules: this.modules,
      webhooks: this.webhooks,
      retries: options.retryInstalling !== false,
    });
    this.#readiness = new Readiness(process, this.modules);
    health.readyz.add("controllers", () => this.#readiness.notReady());
    this.#reachability = connection.reachability.onChange((reachable) => this.#tellReachability(reachable));
    addInformerMetrics(process);
    addModuleMetrics(metrics, this.modules);
    watchServer(process);
    options.memory?.show(process);
  }

  get metrics(): Metrics {
    return this.#process.metrics;
  }

  /**
   * 1. Listeners: probes and scrapers get a response while the process starts, and a port in use is noticed before any
   * work.
   * 2. Removal of webhook registrations that an earlier process left: they would block the following steps.
   * 3. Modules, each by {@link add}: its CustomResourceDefinitions (its controllers would only wait for them), its
   * plugins (its controllers may use what they set up), its controllers, its runnables.
   * 4. {@link loaded}: webhooks are registered, and `/readyz` asks only whether the controllers have synced.
   *
   * @throws Error naming the flag and the address that cannot be listened on.
   */
  async start(): Promise<void> {
    const { secureMetrics: certificates } = this.#options;
    const { settings, log, installer: transport } = this.#process;
    const secured = certificates && { certificates, transport };
    const debug = await this.#debugListener();
    this.#listeners = await startListeners(
      [
        { name: "health-probe", address: settings["health-probe-bind-address"], app: this.#healthApp() },
        { name: "metrics", address: settings["metrics-bind-address"], app: metricsApp(this.metrics), secured },
        ...(debug === undefined ? [] : [{ name: "debug", address: settings["debug-bind-address"], app: debug.app }]),
      ],
      { log },
    );
    debug?.listening(this.address("debug")!);
    await this.webhooks.begin(this.#stopping.signal);
    log.info("Listening", { health: this.address("health-probe") ?? "off", metrics: this.address("metrics") ?? "off" });
  }

  /** The address of a listener, such as `127.0.0.1:8081`; webhooks have one once a module defines some. */
  address(name: "health-probe" | "metrics" | "debug" | "webhook"): string | undefined {
    return name === "webhook" ? this.webhooks.address : this.#listeners?.address(name);
  }

  /** The token that actions of the debug listener need; `undefined` when there is no such listener. */
  get debugToken(): string | undefined {
    return this.#debug?.token;
  }

  /** The elections that this process takes part in; `undefined` when it always works. */
  get elections(): Pick<Elections, "isLeader" | "leaderIsKnown"> | undefined {
    return this.#process.elections;
  }

  /** Whether the stop has begun, which causes failures from then on. */
  get stopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /**
   * Starts a module. If the server refuses its CustomResourceDefinitions, the module is postponed and tried again.
   *
   * @throws an error that prevents it from ever running; then the caller disposes of it.
   */
  add(module: LoadedModule): Promise<void> {
    return this.#start.begin(module, () => this.modules.add(module));
  }

  /** Starts a new version of a module after the old one drained. @throws as {@link add}. */
  replace(module: LoadedModule): Promise<void> {
    return this.#start.begin(module, () => this.modules.replace(module));
  }

  /** Ends a module, and revokes its permissions. */
  remove(name: string): Promise<void> {
    return this.#start.end(name);
  }

  /** Called when all modules of the start have been added, or are known to be broken. */
  loaded(): void {
    this.#readiness.loaded();
    this.#process.elections?.allLoaded();
    this.#process.sharding?.start();
    this.webhooks.loaded();
  }

  /**
   * Stops everything, in this order, within the grace period and a moment for each step that needs more. Never throws;
   * a step that fails or does not end is logged, and the next one follows.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    const { access, clock, elections, events, informers, installer, log, settings, sharding, transport } =
      this.#process;
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
          // The registrar would otherwise put the address back.
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
          elections?.resigning();
          return events.close();
        },
      },
      {
        what: "election",
        why: "the next leader begins at once, so nothing of ours may be written from here on",
        run: () => Promise.all([elections?.stop(), sharding?.stop()]),
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
          await Promise.all([transport.close(), installer === transport || installer.close(), access?.close()]);
        },
      },
      {
        what: "listeners",
        why: "probes must find the process alive until its work is done, and the last metrics can be read",
        run: () => {
          this.#debug?.[Symbol.dispose]();
          return this.#listeners?.stop();
        },
      },
      {
        what: "isolation",
        why: "errors of all previous steps are still logged",
        run: () => this.#isolation?.[Symbol.dispose](),
      },
    ];
    await stopInOrder(steps, { grace, clock, log });
  }

  /** Loads the debug listener only when somebody wants it. @throws Error when its address is not of the loopback. */
  async #debugListener(): Promise<DebugListener | undefined> {
    const { rootLog, memory, history, version } = this.#options;
    const address = this.#process.settings["debug-bind-address"];
    if (address === "0" || rootLog === undefined || history === undefined) return undefined;
    const { DebugListener, notLoopback } = await import("./debug/debug-listener.ts");
    const refusal = notLoopback(address);
    if (refusal !== undefined) throw new Error(refusal);
    const { modules, webhooks } = this;
    const parts = { log: rootLog, modules, webhooks, memory, history, version };
    return (this.#debug = new DebugListener(this.#process, parts));
  }

  #tellReachability(reachable: boolean): void {
    const { log, connection } = this.#process;
    const { server } = this.#options.cluster;
    const error = connection.reachability.outage?.error;
    if (reachable) log.info("The API server answers again", { server });
    else log.warn("Cannot reach the API server: trying again until it answers", { server, error });
  }

  /** Answers a request like the health listener, with its checks and the routes of plugins. */
  async answer(request: Request): Promise<Response> {
    return this.#healthApp().fetch(request);
  }

  #healthApp(): ReturnType<typeof healthApp> {
    return healthApp(this.#process.health).all("/plugins/:plugin/*", (context) =>
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
