/** The registrations of one module's plugins, which are removed together with the module. */
import type { Runtime } from "../controller/runtime.ts";
import { abortable } from "../platform/abortable.ts";
import type { Log } from "../observe/log.ts";
import type { Resource } from "../resource/handle.ts";
import { AuthorMetrics } from "../observe/author-metrics.ts";
import type { HealthChecks } from "../server/health-checks.ts";
import { asDefinition } from "./brand.ts";
import type { Definition } from "./definition.ts";
import type { LoadedModule } from "./loaded-module.ts";
import { collectDefinitions, type ModuleDefinitions } from "./module-definitions.ts";
import type { Check, Plugin, PluginMetric, Registry } from "./plugin.ts";
import type { PluginBoard } from "./plugin-board.ts";
import { pluginClient, type PluginClient } from "./plugin-client.ts";
import { PluginParts } from "./plugin-parts.ts";
import { type RouteRequest, PluginRoutes } from "./plugin-routes.ts";
import { PluginSecrets } from "./plugin-secrets.ts";
import { Registrations } from "./registrations.ts";
import { Runnables } from "./runnables.ts";
import { noServices } from "../reconcile/services.ts";

/** The checks behind the endpoints of the health listener. */
export interface Health {
  readonly healthz: HealthChecks;
  readonly livez: HealthChecks;
  readonly readyz: HealthChecks;
}

interface ContributionsOptions {
  /** The process, with the leadership for work that only one replica does. */
  readonly runtime: Runtime;
  readonly health: Health;
  /** The board on which plugins put hooks, transforms and services, by {@link Contributions.place}. */
  readonly board: PluginBoard;
  /** Called with an error that a runnable or a metric's function threw. */
  readonly onError: (error: unknown, what: string) => void;
  /** The running version's, until {@link Contributions.takeOver}. @default none: registrations take effect at once */
  readonly before?: Contributions | undefined;
}

/** Milliseconds for a plugin's `setup`, and again for its end, as for a module's top-level code. */
const WITHIN = 10_000;

export class Contributions {
  readonly #module: LoadedModule;
  readonly #options: ContributionsOptions;
  readonly #log: Log;
  readonly #added: (Definition | Resource)[] = [];
  readonly #runnables: Runnables;
  readonly #checks: Registrations;
  readonly #metrics: Registrations;
  /** The active requests to the routes and calls of the services. */
  readonly #calls = new Set<Promise<unknown>>();
  readonly #parts: PluginParts[] = [];
  readonly #clients: PluginClient[] = [];
  #placed: Disposable | undefined;
  readonly #leaving = new AbortController();
  readonly #gone = new AbortController();
  #open = true;
  /** The objects through which the code of controllers writes its metrics. */
  readonly ofControllers: Map<ModuleDefinitions["controllers"][number], object> = new Map();
  /** The routes by the plugin's name. */
  readonly routes: Map<string, PluginRoutes> = new Map();

  constructor(module: LoadedModule, options: ContributionsOptions) {
    const { before, ...around } = options;
    this.#module = module;
    this.#options = around; // without the previous version, which would keep all versions in memory
    this.#checks = new Registrations(before === undefined ? undefined : before.#checks);
    this.#metrics = new Registrations(before === undefined ? undefined : before.#metrics);
    const { onError, runtime } = options;
    const { clock, leadership } = runtime;
    this.#log = runtime.log.with({ module: module.name });
    this.#runnables = new Runnables({ clock, leadership, log: this.#log, onError, invoke: module.invoke });
  }

  /**
   * Calls the `setup` of each of the module's plugins, in the order in which they require each other.
   *
   * @throws Error for a required plugin that does not exist, and for a circle; the error of a setup, also when it takes
   * too long.
   */
  async setup(plugins: readonly Plugin[], wait: { readonly signal: AbortSignal }): Promise<void> {
    const { board } = this.#options;
    const missing = board.missing(plugins, this.#module.name);
    if (missing !== undefined) throw new Error(missing);
    for (const plugin of board.inOrder(plugins, this.#module.name)) {
      const secrets = new PluginSecrets();
      const setup = this.#module.invoke(async () => plugin.setup(this.#registryOf(plugin, secrets)));
      await secrets.guarded(() => this.#inTime(setup, `the setup of plugin '${plugin.name}'`, wait.signal));
      this.#parts.at(-1)!.mustProvideAll();
    }
  }

  /** Waits for the work. @throws the error of the work, or an Error when it takes too long. */
  async #inTime(work: Promise<void>, what: string, signal?: AbortSignal): Promise<void> {
    const late = new AbortController();
    const tooLate = new Error(`${what} did not end within 10 s`);
    using _timer = this.#options.runtime.clock.setTimeout(() => late.abort(tooLate), WITHIN);
    await abortable(work, signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]));
  }

  /** Returns the definitions that plugins added, after `setup`. */
  added(): ModuleDefinitions {
    return collectDefinitions(this.#added);
  }

  /**
   * Starts the runnables; one that fails is started again.
   *
   * @param warm resolves when the caches of the module's controllers are warm; runnables of the leader wait for them,
   * and for the caches of plugins.
   */
  start(warm: Promise<void>): void {
    const all = Promise.all([warm, ...this.#clients.map((client) => client.warm(this.#leaving.signal))]);
    const { signal } = this.#leaving;
    this.#runnables.start(
      signal,
      all.then(() => {}),
    );
  }

  /** Why a plugin is unhealthy; `undefined` while all are healthy. */
  get failure(): string | undefined {
    const { name, definitions } = this.#module;
    return this.#runnables.failure ?? this.#options.board.missing(definitions.plugins, name);
  }

  /** The parts that have not ended: runnables that have begun, and active requests. */
  get open(): readonly string[] {
    const { open } = this.#runnables;
    const { size } = this.#calls;
    return size === 0
      ? open
      : [...open, `${size} active ${size === 1 ? "request" : "requests"} to its routes and services`];
  }

  /** Puts hooks and transforms in force, in place of those of the previous version. */
  place(): void {
    const places = this.#parts.map(({ place }) => place);
    this.#placed = this.#options.board.put(this.#module.name, places);
  }

  /** Removes the parts that clients use: routes and checks. */
  withdraw(): void {
    this.#open = false;
    this.#placed?.[Symbol.dispose]();
    this.routes.clear();
    this.#checks.withdraw();
  }

  /** Removes routes, checks and metrics at once and ends the runnables; resolves when they have ended. */
  async leave(): Promise<void> {
    this.withdraw();
    this.#metrics.withdraw();
    this.#leaving.abort(new Error(`The module ${this.#module.name} is leaving`));
    await Promise.all([this.#runnables.ended(), ...this.#calls]);
    for (const parts of this.#parts.toReversed()) {
      // A plugin that does not end must not block later steps.
      const what = `the end of plugin ${parts.place.plugin.name}`;
      await this.#inTime(parts.leave(), what).catch((error: unknown) => this.#options.onError(error, what));
    }
  }

  /** Puts checks and metrics in place of the previous version's. @throws when a name is taken. */
  takeOver(before: Contributions): void {
    this.#checks.takeOver();
    try {
      this.#metrics.takeOver();
    } catch (error) {
      this.#checks.giveBack(before.#checks);
      throw error;
    }
  }

  /** Undoes {@link takeOver}. */
  giveBack(before: Contributions): void {
    before.place();
    this.#checks.giveBack(before.#checks);
    this.#metrics.giveBack(before.#metrics);
  }

  /** Serves a request with the routes of a plugin; `undefined` when it has none. */
  answer(plugin: string, request: RouteRequest): Promise<Response> | undefined {
    const routes = this.routes.get(plugin);
    return routes && this.#calledByOthers(() => routes.answer(request, this.#options.board.bodies));
  }

  /** Calls the module's code for other modules; the module's end waits for such calls. */
  readonly #calledByOthers = <T>(work: () => T): T => {
    const answer = this.#module.invoke(work);
    if (!(answer instanceof Promise)) return answer;
    const settled: Promise<unknown> = answer.catch(() => {}).finally(() => this.#calls.delete(settled));
    this.#calls.add(settled);
    return answer;
  };

  /** Returns the registry of one plugin, which is open as long as its setup runs. */
  #registryOf(definition: Plugin, secrets: PluginSecrets): Registry {
    const { name: plugin, reads = [] } = definition;
    const { runtime, onError } = this.#options;
    const { healthz, livez, readyz } = this.#options.health;
    const { invoke, name: module } = this.#module;
    const gone = this.#gone.signal;
    const report = (error: unknown, what: string) => onError(secrets.cleaned(error), what);
    const { sources } = runtime;
    const call = this.#calledByOthers;
    const parts = new PluginParts({ plugin: definition, invoke, sources, gone, onError: report, call });
    this.#parts.push(parts);
    let own: PluginClient | undefined;
    const client = (): PluginClient => {
      if (own === undefined) {
        own = pluginClient(definition, runtime, { module, gone, keep: secrets.keep });
        this.#clients.push(own);
      }
      return own;
    };
    if (reads.length > 0) client();
    const open =
      <A extends unknown[], R>(register: (...given: A) => R): ((...given: A) => R) =>
      (...given) => {
        if (!this.#open) throw new Error(`Cannot register for plugin '${plugin}': setup is over`);
        return register(...given);
      };
    const checkOf = (...endpoints: HealthChecks[]) =>
      open((name: string, ask: Check) => {
        const guarded = async (): Promise<undefined> => {
          await secrets.guarded(() => invoke(ask));
        };
        for (const checks of endpoints) this.#checks.add(() => checks.add(`${plugin}/${name}`, guarded));
      });
    const metrics = open(() => this.#authorMetrics());
    return {
      log: this.#log.with({ plugin }, secrets.clean),
      get client() {
        return client().client;
      },
      add: open<(Definition | Resource)[], void>((...definitions) => {
        const other = definitions.map(asDefinition).find((one) => one?.type === "plugin");
        if (other?.type === "plugin")
          throw new Error(`Cannot add plugin '${other.plugin.name}' in plugin '${plugin}': export it from the module`);
        this.#added.push(...definitions);
      }),
      around: open(parts.around),
      transform: open(parts.transform),
      source: open(parts.source),
      provide: open(parts.provide),
      service: runtime.services?.use ?? noServices,
      onLeave: open(parts.onLeave),
      index: open((index) => client().keepIndex(index)),
      route: open((app, options = {}) => {
        if (this.routes.has(plugin))
          throw new Error(`Cannot add routes of plugin '${plugin}': it has some; add to that Hono app`);
        const failed = (error: unknown) => report(error, `a route of plugin ${plugin}`);
        this.routes.set(plugin, new PluginRoutes(app, options, failed));
      }),
      healthCheck: checkOf(healthz, livez),
      readyCheck: checkOf(readyz),
      run: open((runnable, options) => this.#runnables.add({ plugin, secrets }, runnable, options)),
      counter: (options) => metrics().counter(options),
      gauge: (options) => metrics().gauge(options),
      histogram: (options) => metrics().histogram(options),
      metric: open((metric) => this.#addMetric(metric, secrets)),
    };
  }

  /** Prevents anything that the plugins still do from reaching the server. */
  cutOff(): void {
    this.#gone.abort(new Error(`The module ${this.#module.name} has left`));
  }

  /** Registration ends with `setup`. */
  close(): void {
    this.#open = false;
  }

  /** Creates the metrics that controllers declare. @throws TypeError, Error for a wrong name or one that is taken. */
  metricsOf(controllers: ModuleDefinitions["controllers"]): void {
    for (const controller of controllers) {
      if (controller.metrics === undefined) continue;
      this.ofControllers.set(controller, this.#authorMetrics().declared(controller.metrics));
    }
  }

  #authorMetrics(): AuthorMetrics {
    return new AuthorMetrics((family) => this.#metrics.add(() => this.#options.runtime.metrics.addFamily(family)));
  }

  #addMetric({ name, help, type = "gauge", value }: PluginMetric, secrets: PluginSecrets): void {
    const read = () => {
      try {
        return [{ labels: {}, value: this.#module.invoke(value) }];
      } catch (error) {
        this.#options.onError(secrets.cleaned(error), `the metric ${name}`);
        return [];
      }
    };
    this.#metrics.add(() => this.#options.runtime.metrics.add({ name, help, type, read }));
  }
}
