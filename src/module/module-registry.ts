/** The modules of a running process: each can be added, replaced and removed while the others run. */
import { type RunningController, startController } from "../controller/controller.ts";
import type { Runtime } from "../controller/runtime.ts";
import type { Leaderships } from "./leaderships.ts";
import { checkConflicts, type Claimant } from "./conflicts.ts";
import type { Contributions, Health } from "./contributions.ts";
import { cleanUp, Draining } from "./draining.ts";
import { GracePeriod } from "./grace-period.ts";
import type { LoadedModule } from "./loaded-module.ts";
import type { ModuleDefinitions } from "./module-definitions.ts";
import { PluginBoard } from "./plugin-board.ts";
import { LeavingVersions, ModuleVersion, type VersionSurroundings } from "./module-version.ts";
import type { WebhookHost } from "../webhook/webhook-host.ts";
import {
  ModuleListing,
  type ModuleProblem,
  type ModuleStatus,
  neverRan,
  noneRuns,
  statusesOf,
} from "./module-status.ts";
import { PostponedModules } from "./postponed.ts";

export interface ModuleRegistryOptions {
  /** The endpoints that list the modules and have the checks of plugins. */
  readonly health: Health;
  /** Decides which modules may work. @default every module */
  readonly leaderships?: Leaderships | undefined;
  /** Serves the modules' webhooks. @default nothing does */
  readonly webhooks?: WebhookHost | undefined;
  /** Starts a controller. @default startController */
  readonly start?: typeof startController | undefined;
}

export class ModuleRegistry {
  readonly plugins: PluginBoard;
  readonly #runtime: Runtime;
  readonly #options: ModuleRegistryOptions;
  readonly #listing: ModuleListing;
  readonly #running = new Map<string, ModuleVersion>();
  readonly #broken = new Map<string, ModuleProblem>();
  readonly #postponed = new PostponedModules();
  readonly #leaving: LeavingVersions;
  readonly #stopping = new AbortController();
  /** The grace period of the stop, once that has begun. */
  #ending: GracePeriod | undefined;
  /** The last change, because changes happen one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(runtime: Runtime, options: ModuleRegistryOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#listing = new ModuleListing({
      readyz: options.health.readyz,
      strict: runtime.settings.strict,
      statuses: () => this.statuses(),
    });
    this.#leaving = new LeavingVersions(runtime.log);
    this.plugins = new PluginBoard(runtime);
  }

  /**
   * Starts the definitions of a module, in place of a broken or postponed module with its name.
   *
   * @throws Error when the name is taken or the registry stops, ModuleConflict, or the error of a plugin's setup; then
   * nothing of the module runs, and the caller disposes of it.
   */
  add(module: LoadedModule): Promise<void> {
    return this.#inTurn(async () => {
      this.#refuseWhenStopping(module);
      if (this.#running.has(module.name))
        throw new Error(`Cannot add the module ${module.name}: a module with that name is already running`);
      checkConflicts([...this.#claims(module), module]);
      this.#postponed.take(module);
      await this.#begin(module);
    });
  }

  /**
   * Starts a module's new version in place of the running one, if there is one.
   *
   * Resolves when the new version works: it has the keys that waited, and active runs of the previous version end by
   * themselves or with the grace period, while their keys wait for them.
   *
   * @throws as `add`; then the previous version keeps running as if nothing had happened.
   */
  replace(module: LoadedModule): Promise<void> {
    return this.#inTurn(async () => {
      this.#refuseWhenStopping(module);
      const old = this.#running.get(module.name);
      checkConflicts([...this.#claims(module, old), module]);
      this.#postponed.take(module);
      if (old === undefined) await this.#begin(module);
      else await this.#follow(old, module);
    });
  }

  /** Resolves when no version of the module is left but the running one. */
  settled(name: string): Promise<void> {
    return this.#leaving.ended(name);
  }

  /**
   * Removes everything that a module registered. While objects have finalizers of its controllers, these stay and only
   * finalize: the module drains. A broken module is forgotten. Resolves when it drains or is gone.
   *
   * @param gone called when nothing of it runs any more, unless another version took its place.
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

  /** Records a module that could not be loaded, so that it is displayed. A running version keeps running. */
  markBroken(name: string, broken: { readonly file: string; readonly message: string }): void {
    this.#postponed.drop(name);
    this.#broken.set(name, { name, ...broken });
    this.#listing.add(name);
    const fields = { module: name, file: broken.file, reason: broken.message };
    const running = this.#running.get(name);
    if (running === undefined) return this.#runtime.log.error("Cannot load a module", fields);
    running.reloads.failed++;
    this.#runtime.log.error("Cannot load a module: the previous version keeps running", fields);
  }

  /**
   * Records a module that cannot be started yet, for example because its webhooks lack a listener. It is displayed as
   * unavailable. A running version keeps running.
   *
   * @returns a signal that fires when it need not be tried any more; by then it is disposed of.
   */
  postpone(module: LoadedModule, message: string, lacksListener = false): AbortSignal {
    const { name, file } = module;
    const isKnown = this.#postponed.messageOf(name) === message;
    const signal = this.#postponed.put(module, message, lacksListener);
    this.#listing.add(name);
    const fields = { module: name, file, reason: message };
    if (!isKnown) this.#runtime.log.warn("Cannot start a module yet: trying again", fields);
    return signal;
  }

  /** Returns why none of the modules runs; `undefined` when one does, or when there are none. */
  noneRuns(): string | undefined {
    return this.#running.size > 0 ? undefined : noneRuns(this.statuses());
  }

  /** Returns why a module does not run at all: it is broken, or lacks the listener of its webhooks. */
  neverRan(): string | undefined {
    return neverRan([...this.#broken.values(), ...this.#postponed.withoutListener()], this.#running);
  }

  /** Counts and logs an error that a module's code threw outside of a run. */
  reportError(name: string, error: unknown, what = "code outside of a run"): void {
    this.countError(name);
    this.#runtime.log.error(`A module failed: ${what}`, { module: name, error });
  }

  /** Counts an error that a module's code threw and another part has logged. */
  countError(name: string): void {
    const running = this.#running.get(name);
    if (running !== undefined) running.errors++;
  }

  /** Lets controllers that were slowed or suspended because their runs fail work as usual again. */
  resume(): void {
    for (const controller of this.controllers) controller.resume();
  }

  /** Prevents new modules, runs and events of sources from now on. The grace period begins. */
  quiesce(): void {
    if (this.#ending !== undefined) return;
    this.#ending = this.#newGrace();
    this.#stopping.abort(new Error("The process is stopping")); // a plugin's setup is not waited for
    this.#postponed.dropAll();
    this.#runtime.finalizers.stop();
    for (const controller of this.controllers) controller.quiesce();
  }

  /** After {@link quiesce}: resolves when no run is active, or when the grace period is over. */
  async drain(): Promise<void> {
    await this.#ending?.within(() => Promise.all(this.controllers.map((controller) => controller.drained())));
  }

  /** Removes every module, all at the same time, within the remaining grace period. */
  stop(): Promise<void> {
    this.quiesce();
    return this.#inTurn(async () => {
      await Promise.all([...this.#running.values()].map((running) => this.#end(running)));
      await this.#leaving.allEnded();
    });
  }

  has(name: string): boolean {
    return this.#running.has(name);
  }

  get controllers(): readonly RunningController[] {
    return [...this.#running.values()].flatMap(({ controllers }) => controllers);
  }

  /** The statuses of all modules, ordered by name. */
  statuses(): readonly ModuleStatus[] {
    const broken = this.#broken.values();
    return statusesOf({ running: this.#running.values(), postponed: this.#postponed.all(), broken });
  }

  /** Serves a request with the routes of a plugin; `undefined` when it has none. */
  answer(...request: Parameters<Contributions["answer"]>): Promise<Response> | undefined {
    for (const { contributions } of this.#running.values()) {
      const answer = contributions.answer(...request);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  /** Returns the definitions with which a module may conflict, without those that it takes over. */
  *#claims(module: Pick<LoadedModule, "definitions">, except?: ModuleVersion): Iterable<Claimant> {
    for (const { module: other, definitions, draining } of this.#running.values()) {
      if (other === except?.module) continue;
      const left = draining?.drain.definitionsBeside(module.definitions.controllers);
      yield { file: other.file, definitions: left ?? definitions };
    }
  }

  async #begin(module: LoadedModule): Promise<void> {
    const { name } = module;
    let version: ModuleVersion | undefined;
    try {
      version = await this.#setUp(module, undefined);
      version.takeOver(undefined);
      this.#running.set(name, version);
      await this.#serve(module, version.definitions);
      this.#refuseWhenStopping(module);
      await this.#succeed(version.definitions.controllers);
      version.startOthers();
      version.startRunnables();
      this.#started(version);
    } catch (error) {
      if (version === undefined)
        await this.#newGrace().within((signal) => this.#options.webhooks?.remove(name, { signal }));
      else await this.#end(version, { keepGraph: true });
      await this.#options.leaderships?.leave(name);
      throw error;
    }
  }

  /**
   * 1. The new version's plugins are set up and its caches filled: if that fails, the previous version keeps running.
   * 2. Its checks, metrics, kinds and webhooks, and with them its routes, replace the previous ones.
   * 3. Controllers hand over to those of the same name, each in one step: no event and no key is lost in between.
   * 4. Controllers that are not continued end, because another one may do their work from here on.
   * 5. The others start. Runnables start when the previous ones have ended: both may need the same port.
   */
  async #follow(old: ModuleVersion, module: LoadedModule): Promise<void> {
    const version = await this.#setUp(module, old);
    using caches = new DisposableStack();
    try {
      caches.use(await version.warmUp(old, this.#stopping.signal));
      this.#refuseWhenStopping(module);
      version.takeOver(old);
      await this.#serve(module, version.definitions).catch((error: unknown) => {
        version.giveBack(old);
        throw error;
      });
    } catch (error) {
      await version.end(this.#newGrace());
      throw error;
    }
    this.#running.set(module.name, version);
    try {
      await version.continueFrom(old, this.#newGrace());
      await this.#succeed(version.definitions.controllers);
      this.#refuseWhenStopping(module);
      version.startOthers();
    } catch (error) {
      await this.#end(version, { keepGraph: true });
      throw error;
    } finally {
      void this.#leaving.add(old, this.#newGrace()).then(() => version.startRunnables());
    }
    this.#started(version);
  }

  /** The returned functions live as long as a version, so no previous version may be in their scope. */
  #around({ name }: LoadedModule): VersionSurroundings {
    const leadership = this.#options.leaderships?.of(name) ?? this.#runtime.leadership;
    return {
      runtime: this.#runtime,
      health: this.#options.health,
      board: this.plugins,
      leadership,
      alone: this.#options.leaderships?.alone?.(name) ?? leadership,
      start: this.#options.start ?? startController,
      onError: (error, what) => this.reportError(name, error, what),
      onWarm: () => this.#options.leaderships?.warm(name),
    };
  }

  /** @throws Error when it cannot run beside the others. */
  #setUp(module: LoadedModule, before: ModuleVersion | undefined): Promise<ModuleVersion> {
    const accept = (definitions: ModuleDefinitions): void => {
      this.#refuseWhenStopping(module);
      checkConflicts([...this.#claims({ definitions }, before), { file: module.file, definitions }]);
    };
    return ModuleVersion.setUp(module, this.#around(module), { before, accept, signal: this.#stopping.signal });
  }

  #started({ module: { name, file }, controllers }: ModuleVersion): void {
    this.#listing.add(name);
    this.#broken.delete(name);
    this.#runtime.log.info("Module started", { module: name, file, controllers: controllers.map((one) => one.name) });
  }

  /** Lets a module only finalize. @returns false when no object has finalizers of its controllers. */
  async #drain(running: ModuleVersion, gone: () => Promise<void>): Promise<boolean> {
    if (this.#runtime.settings["force-removal"] || this.#ending !== undefined) return false;
    const drain = await Draining.begin(running, { grace: this.#newGrace(), webhooks: this.#options.webhooks });
    if (drain === undefined || drain.hasEnded) return false;
    running.draining = { drain, gone };
    const about = { module: running.module.name, left: drain.message };
    this.#runtime.log.warn("The module is draining: it only finalizes while objects have its finalizers", about);
    this.#options.leaderships?.yield?.(running.module.name);
    void drain.ended.then(() => this.#inTurn(() => this.#drained(running)));
    return true;
  }

  /** Called when nothing is left for a module to finalize. */
  async #drained(running: ModuleVersion): Promise<void> {
    const { name } = running.module;
    if (this.#running.get(name) !== running || this.#ending !== undefined) return;
    await this.#leave(running);
    this.#listing.remove(name);
    await cleanUp(running.draining!.gone, { module: name, log: this.#runtime.log });
  }

  /** Ends draining modules as far as new controllers succeed theirs. */
  async #succeed(controllers: ModuleDefinitions["controllers"]): Promise<void> {
    for (const running of this.#running.values()) {
      const drain = running.draining?.drain;
      await drain?.handOver(controllers, { grace: this.#runtime.settings["grace-period"] });
      if (drain?.hasEnded === true) await this.#drained(running);
    }
  }

  async #leave(running: ModuleVersion): Promise<void> {
    await this.#end(running);
    await this.settled(running.module.name);
    await this.#options.leaderships?.leave(running.module.name);
  }

  /** Refuses to start a module once all modules have ended, because nobody would end it. */
  #refuseWhenStopping({ name }: LoadedModule): void {
    if (this.#stopping.signal.aborted) throw new Error(`Cannot start the module ${name}: the process is stopping`);
  }

  /** Serves a module's webhooks, or those of its new version in place of the old one's. */
  async #serve({ name, invoke }: LoadedModule, { webhooks, resources }: ModuleDefinitions): Promise<void> {
    await this.#newGrace().within((signal) =>
      this.#options.webhooks?.put({ name, webhooks, resources, invoke }, { signal }),
    );
  }

  async #end(version: ModuleVersion, { keepGraph = false } = {}): Promise<void> {
    const { module, definitions } = version;
    const grace = this.#ending ?? this.#newGrace();
    // Runs that are ending may write objects that need conversion.
    using _converting = this.#options.webhooks?.convertFor({ ...module, ...definitions });
    // The registrations are removed first, then the handlers, so that the API server sends no requests in vain.
    await grace.within((signal) => this.#options.webhooks?.remove(module.name, { signal }));
    await version.end(grace);
    this.#running.delete(module.name);
    // The module is disposed of last, when nothing calls it any more.
    if (!keepGraph) module.dispose();
    this.#runtime.log.info("Module stopped", { module: module.name });
  }

  #newGrace(): GracePeriod {
    return new GracePeriod(this.#runtime.settings["grace-period"], this.#runtime.clock);
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(change);
    this.#last = result.catch(() => {});
    return result;
  }
}
