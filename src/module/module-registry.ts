/** The modules of a running process: each can be added, replaced and removed while the others run. */
import { type RunningController, startController } from "../controller/controller.ts";
import type { Leadership } from "../client/leadership.ts";
import type { Runtime } from "../controller/runtime.ts";
import type { Leaderships } from "./leaderships.ts";
import { checkConflicts, type Claimant } from "./conflicts.ts";
import { Contributions, type Health } from "./contributions.ts";
import { Draining } from "./draining.ts";
import { GracePeriod } from "./grace-period.ts";
import type { LoadedModule } from "./loaded-module.ts";
import { mergedDefinitions, type ModuleDefinitions } from "./module-definitions.ts";
import { ModuleListing } from "./module-listing.ts";
import { pluginClient } from "./plugin-client.ts";
import type { WebhookHost } from "../webhook/webhook-host.ts";
import { type ModuleProblem, type ModuleStatus, statusesOf } from "./module-status.ts";
import { PostponedModules } from "./postponed.ts";
import { stateLog } from "./state-log.ts";

export interface ModuleRegistryOptions {
  /** Modules list themselves here, and plugins add their checks. */
  readonly health: Health;
  /** A module that is broken, waiting or unavailable fails `/readyz` instead of being listed only. @default false */
  readonly strict?: boolean | undefined;
  /** Milliseconds that runs get to finish when a module leaves. */
  readonly grace: number;
  /** A module that is removed ends at once, although objects carry its finalizers. @default false: it drains */
  readonly forcesRemoval?: boolean | undefined;
  /** Who may work. @default every module */
  readonly leaderships?: Leaderships | undefined;
  /** Serves the modules' webhooks. @default nobody does */
  readonly webhooks?: WebhookHost | undefined;
  /** Starts a controller. @default startController */
  readonly start?: typeof startController | undefined;
}

/** A module that runs. */
interface Running {
  readonly module: LoadedModule;
  readonly definitions: ModuleDefinitions;
  readonly contributions: Contributions;
  readonly controllers: RunningController[];
  readonly listeners: Disposable[];
  /** Resolves when the caches of its controllers have synced, or cannot. */
  readonly warm: PromiseWithResolvers<void>;
  errors: number;
  /** Until each of its controllers has been started. */
  starting: boolean;
  /** Once it was removed while objects carry its finalizers. */
  draining?: { readonly drain: Draining; readonly gone: () => Promise<void> };
}

export class ModuleRegistry {
  readonly #runtime: Runtime;
  readonly #grace: number;
  readonly #forcesRemoval: boolean;
  readonly #start: typeof startController;
  readonly #leaderships: Leaderships | undefined;
  readonly #health: Health;
  readonly #webhooks: WebhookHost | undefined;
  readonly #listing: ModuleListing;
  readonly #running = new Map<string, Running>();
  readonly #broken = new Map<string, ModuleProblem>();
  readonly #postponed = new PostponedModules();
  readonly #stopping = new AbortController();
  /** Of the end, once that has begun. */
  #ending: GracePeriod | undefined;
  /** Changes happen one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(runtime: Runtime, options: ModuleRegistryOptions) {
    const { grace, health, leaderships, strict = false, forcesRemoval = false, start = startController } = options;
    this.#leaderships = leaderships;
    this.#webhooks = options.webhooks;
    this.#runtime = runtime;
    this.#grace = grace;
    this.#health = health;
    this.#forcesRemoval = forcesRemoval;
    this.#listing = new ModuleListing({ readyz: health.readyz, strict, statuses: () => this.statuses() });
    this.#start = start;
  }

  /**
   * Starts what a module defines. Takes the place of a broken or postponed module of its name.
   *
   * @throws when the name is taken, ModuleConflict, what a plugin's setup threw, or once the registry stops; then nothing
   * of it runs, and the caller disposes of the module.
   */
  add(module: LoadedModule): Promise<void> {
    return this.#inTurn(async () => {
      this.#refuseWhenStopping(module);
      if (this.#running.has(module.name))
        throw new Error(`Cannot add the module ${module.name}: there is one of this name`);
      checkConflicts([...this.#claims(module), module]);
      this.#postponed.take(module);
      await this.#begin(module);
    });
  }

  /** Starts a module's new version after the old one drained. @throws as `add`; on a conflict the old one runs on. */
  replace(module: LoadedModule): Promise<void> {
    return this.#inTurn(async () => {
      this.#refuseWhenStopping(module);
      const old = this.#running.get(module.name);
      checkConflicts([...this.#claims(module, old), module]);
      this.#postponed.take(module);
      if (old !== undefined) {
        // Whoever asks the webhooks meanwhile is answered: the new version's come in place of the old one's.
        await this.#serve(module, module.definitions);
        await this.#end(old, { keepWebhooks: true });
      }
      await this.#begin(module);
    });
  }

  /**
   * Takes away all that a module registered. While objects carry finalizers of its controllers, these stay and do nothing but
   * finalize: the module drains. A broken module is forgotten.
   *
   * @param gone called when nothing of it runs any more, unless another version took its place. @returns when it drains or is gone.
   */
  remove(name: string, gone: () => Promise<void> = async () => {}): Promise<void> {
    return this.#inTurn(async () => {
      this.#broken.delete(name);
      this.#postponed.drop(name);
      const running = this.#running.get(name);
      if (running?.draining !== undefined || (running !== undefined && (await this.#drain(running, gone)))) return;
      if (running !== undefined) await this.#leave(running);
      this.#listing.remove(name);
      await gone();
    });
  }

  /** Remembers a module that could not be loaded, to be shown. A version that runs keeps running. */
  markBroken(name: string, broken: { readonly file: string; readonly message: string }): void {
    this.#postponed.drop(name);
    this.#broken.set(name, { name, ...broken });
    this.#listing.add(name);
    const fields = { module: name, file: broken.file, reason: broken.message };
    if (this.#running.has(name)) this.#runtime.log.error("Cannot load a module: its version before runs on", fields);
    else this.#runtime.log.error("Cannot load a module", fields);
  }

  /**
   * Remembers a module that cannot be started yet, to be shown as unavailable. A version that runs keeps running.
   *
   * @returns a signal that fires when it need not be tried any more; by then it is disposed of.
   */
  postpone(module: LoadedModule, message: string): AbortSignal {
    const { name, file } = module;
    const told = this.#postponed.messageOf(name);
    const signal = this.#postponed.put(module, message);
    this.#listing.add(name);
    if (told !== message) {
      this.#runtime.log.warn("Cannot start a module yet: trying again", { module: name, file, reason: message });
    }
    return signal;
  }

  /** Why none of the modules runs; `undefined` when one does, or when there are none. */
  noneRuns(): string | undefined {
    if (this.#running.size > 0) return undefined;
    const [first] = this.statuses();
    return first && `no module runs: ${first.name} is ${first.state}: ${first.message}`;
  }

  /** Counts and logs what a module's code threw outside of a run. */
  reportError(name: string, error: unknown, what = "code outside of a run"): void {
    this.countError(name);
    this.#runtime.log.error(`A module failed: ${what}`, { module: name, error });
  }

  /** Counts what a module's code threw, and somebody else has logged. */
  countError(name: string): void {
    const running = this.#running.get(name);
    if (running !== undefined) running.errors++;
  }

  /** Controllers that are slowed or suspended, because their runs fail, work as usual again. */
  resume(): void {
    for (const controller of this.controllers) controller.resume();
  }

  /** Nothing begins any more: no module, no run, and nothing of a source. The grace period begins. */
  quiesce(): void {
    if (this.#ending !== undefined) return;
    this.#ending = this.#newGrace();
    this.#stopping.abort(new Error("The process is stopping")); // a plugin that is being set up is not waited for
    this.#postponed.dropAll();
    this.#runtime.finalizers.stop();
    for (const controller of this.controllers) controller.quiesce();
  }

  /** After {@link quiesce}: resolves when no run is under way, or when the grace period is over. */
  async drain(): Promise<void> {
    await this.#ending?.within(() => Promise.all(this.controllers.map((controller) => controller.drained())));
  }

  /** Removes every module, all at the same time, within what is left of the grace period. */
  stop(): Promise<void> {
    this.quiesce();
    return this.#inTurn(async () => {
      await Promise.all([...this.#running.values()].map((running) => this.#end(running)));
    });
  }

  has(name: string): boolean {
    return this.#running.has(name);
  }

  get controllers(): readonly RunningController[] {
    return [...this.#running.values()].flatMap(({ controllers }) => controllers);
  }

  /** Every module, by name. */
  statuses(): readonly ModuleStatus[] {
    return statusesOf({ running: this.#running.values(), postponed: this.#postponed.all(), broken: this.#broken });
  }

  /** Answers a request with the routes of a plugin; `undefined` when it has none. */
  answer(plugin: string, request: Request): Response | Promise<Response> | undefined {
    for (const { module, contributions } of this.#running.values()) {
      const app = contributions.routes.get(plugin);
      if (app !== undefined) return module.invoke(() => app.fetch(request));
    }
    return undefined;
  }

  /** What a module cannot have beside the others; one that drains keeps only what the module does not take over. */
  *#claims(module: Pick<LoadedModule, "definitions">, except?: Running): Iterable<Claimant> {
    for (const { module: other, definitions, draining } of this.#running.values()) {
      if (other === except?.module) continue;
      yield {
        file: other.file,
        definitions: draining?.drain.definitionsBeside(module.definitions.controllers) ?? definitions,
      };
    }
  }

  async #begin(module: LoadedModule): Promise<void> {
    const { name } = module;
    const log = this.#runtime.log.with({ module: name });
    const alone = this.#leaderships?.alone?.(name) ?? this.#leadershipOf(module);
    const contributions = new Contributions(module, {
      log,
      metrics: this.#runtime.metrics,
      clock: this.#runtime.clock,
      leadership: alone,
      health: this.#health,
      clientOf: (plugin, about) =>
        pluginClient(plugin, { ...this.#runtime, leadership: alone }, { module: name, ...about }),
      onError: (error, what) => this.reportError(name, error, what),
    });
    const warm = Promise.withResolvers<void>();
    try {
      await contributions.setup(module.definitions.plugins, { signal: this.#stopping.signal });
      contributions.close();
      this.#refuseWhenStopping(module);
      const definitions = mergedDefinitions(module.definitions, contributions.added());
      checkConflicts([...this.#claims({ definitions }), { file: module.file, definitions }]);
      await this.#succeed(definitions.controllers);
      const defined = this.#runtime.definedKinds.claim(definitions.resources);
      const running: Running = {
        module,
        definitions,
        contributions,
        controllers: [],
        listeners: [defined],
        warm,
        errors: 0,
        starting: true,
      };
      this.#running.set(name, running);
      await this.#serve(module, definitions);
      for (const controller of definitions.controllers) this.#startOne(running, controller);
      running.starting = false;
      contributions.start(warm.promise);
      this.#warmth(running);
      this.#listing.add(name);
      this.#broken.delete(name);
      log.info("Module started", { file: module.file, controllers: running.controllers.map((one) => one.name) });
    } catch (error) {
      const running = this.#running.get(name);
      if (running === undefined) {
        await contributions.leave();
        await this.#newGrace().within((signal) => this.#webhooks?.remove(name, { signal }));
      } else await this.#end(running, { keepGraph: true });
      await this.#leaderships?.leave(name);
      throw error;
    }
  }

  /**
   * Lets a module do nothing but finalize, when objects carry finalizers of its controllers.
   *
   * @returns false when there is nothing to wait for.
   */
  async #drain(running: Running, gone: () => Promise<void>): Promise<boolean> {
    if (this.#forcesRemoval || this.#ending !== undefined) return false;
    const drain = await Draining.begin(running, { grace: this.#newGrace(), webhooks: this.#webhooks });
    if (drain === undefined || drain.hasEnded) return false;
    running.draining = { drain, gone };
    this.#runtime.log.warn("Module drains: it only finalizes, until no object carries its finalizers any more", {
      module: running.module.name,
      left: drain.message,
    });
    void drain.ended.then(() => this.#inTurn(() => this.#drained(running)));
    return true;
  }

  /** Nothing is left for a module to finalize. */
  async #drained(running: Running): Promise<void> {
    const { name } = running.module;
    if (this.#running.get(name) !== running || this.#ending !== undefined) return;
    await this.#leave(running);
    this.#listing.remove(name);
    await running.draining!.gone();
  }

  /** Modules that drain end as far as new controllers succeed theirs. */
  async #succeed(controllers: ModuleDefinitions["controllers"]): Promise<void> {
    for (const running of this.#running.values()) {
      const drain = running.draining?.drain;
      await drain?.handOver(controllers, { grace: this.#grace });
      if (drain?.hasEnded === true) await this.#drained(running);
    }
  }

  async #leave(running: Running): Promise<void> {
    await this.#end(running);
    await this.#leaderships?.leave(running.module.name);
  }

  /** Nobody would end what begins after the end of the others. */
  #refuseWhenStopping({ name }: LoadedModule): void {
    if (this.#stopping.signal.aborted) throw new Error(`Cannot start the module ${name}: the process is stopping`);
  }

  #startOne(running: Running, controller: ModuleDefinitions["controllers"][number]): void {
    const { module, controllers, listeners } = running;
    const runtime = { ...this.#runtime, leadership: this.#leadershipOf(module) };
    const started = this.#start(controller, runtime, { module: module.name, invoke: module.invoke });
    controllers.push(started);
    const tell = stateLog(started, this.#runtime.log);
    const listener = started.onChange(() => {
      this.#warmth(running);
      tell();
    });
    listeners.push(listener);
  }

  #leadershipOf({ name }: LoadedModule): Leadership {
    return this.#leaderships?.of(name) ?? this.#runtime.leadership;
  }

  /** A controller that cannot sync does not keep the others from work. */
  #warmth({ module, controllers, starting, warm }: Running): void {
    if (starting) return;
    const isWarm = ({ hasSynced, state }: RunningController): boolean =>
      hasSynced || state.kind === "waiting" || state.kind === "unavailable";
    if (!controllers.every(isWarm)) return;
    warm.resolve();
    this.#leaderships?.warm(module.name);
  }

  /** Puts in a module's webhooks, or those of its new version in place of the old one's. */
  async #serve({ name, invoke }: LoadedModule, { webhooks, resources }: ModuleDefinitions): Promise<void> {
    await this.#newGrace().within((signal) => this.#webhooks?.put({ name, webhooks, resources, invoke }, { signal }));
  }

  async #end(running: Running, { keepGraph = false, keepWebhooks = false } = {}): Promise<void> {
    const { module, controllers, contributions, listeners } = running;
    const grace = this.#ending ?? this.#newGrace();
    // Runs that end may write objects that the API server has converted.
    using _converting = keepWebhooks ? undefined : this.#webhooks?.convertFor({ ...module, ...running.definitions });
    // First of all the registrations go, then the handlers: nobody is to ask in vain.
    if (!keepWebhooks) await grace.within((signal) => this.#webhooks?.remove(module.name, { signal }));
    // No new runs, and runs under way finish first: they may use what the module's plugins offer.
    await Promise.all(controllers.map((controller) => controller.stop({ grace: grace.left })));
    for (const listener of listeners) listener[Symbol.dispose]();
    if (!(await grace.within(() => contributions.leave()))) {
      const about = { module: module.name, grace: this.#grace / 1_000 };
      this.#runtime.log.warn("Runnables did not end within the grace period; they can write nothing any more", about);
    }
    contributions.cutOff();
    this.#running.delete(module.name);
    // Last: nothing of the module is called any more.
    if (!keepGraph) module.dispose();
    this.#runtime.log.info("Module stopped", { module: module.name });
  }

  #newGrace(): GracePeriod {
    return new GracePeriod(this.#grace, this.#runtime.clock);
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(change);
    this.#last = result.catch(() => {});
    return result;
  }
}
