/** One version of a module in the running process, from the setup of its plugins to the end of its last run. */
import type { Leadership } from "../client/leadership.ts";
import { controllerName } from "../controller/declarations.ts";
import { isNextVersion } from "../controller/handover.ts";
import type { RunningController, startController } from "../controller/controller.ts";
import type { ControllerState } from "../controller/controller-state.ts";
import type { Runtime } from "../controller/runtime.ts";
import type { Log } from "../observe/log.ts";
import { warmUp } from "../controller/warm-up.ts";
import { GuardedLimiter } from "../queue/guarded-limiter.ts";
import type { RateLimiter } from "../queue/rate-limiter.ts";
import { Contributions, type Health } from "./contributions.ts";
import type { Draining } from "./draining.ts";
import type { GracePeriod } from "./grace-period.ts";
import type { LoadedModule } from "./loaded-module.ts";
import { mergedDefinitions, type ModuleDefinitions } from "./module-definitions.ts";
import type { PluginBoard } from "./plugin-board.ts";

/** The parts of the process that a version needs. */
export interface VersionSurroundings {
  readonly runtime: Runtime;
  readonly health: Health;
  readonly board: PluginBoard;
  readonly leadership: Leadership;
  /** The leadership for work that only one replica does. */
  readonly alone: Leadership;
  readonly start: typeof startController;
  /** Called with an error that the module's code threw outside of a run. */
  readonly onError: (error: unknown, what: string) => void;
  /** Called when the controllers have synced, or cannot. */
  readonly onWarm: () => void;
}

interface SetUpOptions {
  readonly before: ModuleVersion | undefined;
  /** Throws when the version cannot run beside the other modules. */
  readonly accept: (definitions: ModuleDefinitions) => void;
  readonly signal: AbortSignal;
}

type Controller = ModuleDefinitions["controllers"][number];

export class ModuleVersion {
  readonly module: LoadedModule;
  /** The exports of the module, and the definitions that its plugins added. */
  readonly definitions: ModuleDefinitions;
  readonly contributions: Contributions;
  readonly controllers: RunningController[] = [];
  /** How often the module's code failed outside of runs, including previous versions. */
  errors = 0;
  /** The numbers of reloads of this version and earlier ones. */
  readonly reloads: { succeeded: number; failed: number } = { succeeded: 0, failed: 0 };
  /** Set when it was removed while objects have its finalizers. */
  draining: { readonly drain: Draining; readonly gone: () => Promise<void> } | undefined;
  readonly #around: VersionSurroundings;
  readonly #listeners = new DisposableStack();
  /** The rate limiters that the `retry.limiter` functions of its controllers returned. */
  readonly #limiters: ReadonlyMap<Controller, RateLimiter>;
  /** The definition from which each of {@link controllers} was started. */
  readonly #started: Controller[] = [];
  readonly #warm = Promise.withResolvers<void>();
  /** True until each of its controllers has been started. */
  #isStarting = true;
  #isWarm = false;
  #isLeaving = false;

  private constructor(
    module: LoadedModule,
    around: VersionSurroundings,
    parts: {
      definitions: ModuleDefinitions;
      contributions: Contributions;
      limiters: ReadonlyMap<Controller, RateLimiter>;
    },
  ) {
    this.module = module;
    this.#around = around;
    this.definitions = parts.definitions;
    this.contributions = parts.contributions;
    this.#limiters = parts.limiters;
  }

  /**
   * Sets the plugins up. If there is a previous version, their registrations are invisible until {@link takeOver}.
   *
   * @throws the error of a setup, a `retry.limiter` or `accept`, and the signal's reason; then nothing of the version
   * is left.
   */
  static async setUp(
    module: LoadedModule,
    around: VersionSurroundings,
    { before, accept, signal }: SetUpOptions,
  ): Promise<ModuleVersion> {
    const { runtime, alone, health, board, onError } = around;
    const contributions = new Contributions(module, {
      runtime: { ...runtime, leadership: alone },
      health,
      board,
      onError,
      before: before?.contributions,
    });
    try {
      await contributions.setup(module.definitions.plugins, { signal });
      contributions.close();
      const definitions = mergedDefinitions(module.definitions, contributions.added());
      accept(definitions);
      contributions.metricsOf(definitions.controllers);
      const limiters = limitersOf(module, definitions.controllers, around);
      return new ModuleVersion(module, around, { definitions, contributions, limiters });
    } catch (error) {
      await contributions.leave();
      contributions.cutOff();
      throw error;
    }
  }

  /** Registers its kinds, checks and metrics in place of the previous ones. @throws Error when a name is taken */
  takeOver(before: ModuleVersion | undefined): void {
    if (before !== undefined) this.contributions.takeOver(before.contributions);
    this.contributions.place();
    this.#listeners.use(this.#around.runtime.definedKinds.claim(this.definitions.resources));
  }

  /** Undoes {@link takeOver}. */
  giveBack(before: ModuleVersion): void {
    this.contributions.giveBack(before.contributions);
  }

  /** Fills the caches of the controllers that continue, until it is disposed of; then they continue in one step. */
  async warmUp(before: ModuleVersion, signal: AbortSignal): Promise<Disposable> {
    using caches = new DisposableStack();
    for (const [controller] of this.#continued(before)) {
      const user = `${this.module.name}/${controllerName(controller)}`;
      caches.use(await warmUp(controller, this.#around.runtime, { user, signal }));
    }
    return caches.move();
  }

  /** Starts the controllers that continue, by a hand-over; all others of the previous version end. */
  async continueFrom(before: ModuleVersion, grace: GracePeriod): Promise<void> {
    this.errors = before.errors;
    this.reloads.succeeded = before.reloads.succeeded + 1;
    this.reloads.failed = before.reloads.failed;
    const continued = this.#continued(before);
    for (const [next, controller] of continued) this.#startController(next, controller);
    const left = before.controllers.filter((one) => !continued.some(([, controller]) => controller === one));
    await Promise.all(left.map((controller) => controller.stop({ grace: grace.left })));
  }

  /** Starts the controllers that do not run yet. */
  startOthers(): void {
    for (const controller of this.definitions.controllers) {
      if (!this.#started.includes(controller)) this.#startController(controller);
    }
    this.#isStarting = false;
    this.#warmth();
  }

  /** Starts the runnables, unless the version is leaving already. */
  startRunnables(): void {
    if (!this.#isLeaving) this.contributions.start(this.#warm.promise);
  }

  /** Ends its controllers, whose runs may use the plugins' services, and then the plugins; its code stays loaded. */
  async end(grace: GracePeriod): Promise<void> {
    this.#isLeaving = true;
    await Promise.all(this.controllers.map((controller) => controller.stop({ grace: grace.left })));
    this.#listeners.dispose();
    if (!(await grace.within(() => this.contributions.leave()))) {
      const about = { module: this.module.name, grace: grace.ms / 1_000 };
      this.#around.runtime.log.warn(
        "Runnables did not end within the grace period; they can no longer write anything",
        about,
      );
    }
    this.contributions.cutOff();
  }

  /**
   * Returns the previous version's controllers that continue in this one, each with its present definition. Those of
   * a draining version do not continue, because they only finalize.
   */
  #continued(before: ModuleVersion): readonly (readonly [next: Controller, controller: RunningController])[] {
    if (before.draining !== undefined) return [];
    return before.controllers.flatMap((controller, index) => {
      const next = this.definitions.controllers.find((one) => isNextVersion(one, before.#started[index]!));
      return next === undefined ? [] : [[next, controller] as const];
    });
  }

  /** Starts a controller. If the controller `before` hands over, no key is lost and none runs in both. */
  #startController(controller: Controller, before?: RunningController): void {
    const { module, controllers } = this;
    const { runtime, leadership, start } = this.#around;
    const own = { ...runtime, leadership };
    const limiter = this.#limiters.get(controller);
    const metrics = this.contributions.ofControllers.get(controller);
    const started = start(controller, own, { module: module.name, invoke: module.invoke, limiter, metrics, before });
    controllers.push(started);
    this.#started.push(controller);
    const tell = stateLog(started, runtime.log);
    const listener = started.onChange(() => {
      this.#warmth();
      tell();
    });
    this.#listeners.use(listener);
  }

  /** A controller that cannot sync does not keep the others from working. */
  #warmth(): void {
    if (this.#isWarm || this.#isStarting) return;
    const isWarm = ({ hasSynced, state }: RunningController): boolean =>
      hasSynced || state.kind === "waiting" || state.kind === "unavailable";
    if (!this.controllers.every(isWarm)) return;
    this.#isWarm = true;
    this.#warm.resolve();
    this.#around.onWarm();
  }
}

/** Calls the authors' `retry.limiter` before anything of the version before has ended, because they may throw. */
function limitersOf(
  { invoke }: LoadedModule,
  controllers: readonly Controller[],
  { onError }: Pick<VersionSurroundings, "onError">,
): ReadonlyMap<Controller, RateLimiter> {
  const limiters = new Map<Controller, RateLimiter>();
  for (const controller of controllers) {
    const limiter = invoke(() => controller.retry?.limiter?.());
    if (limiter === undefined) continue;
    const what = `\`retry.limiter\` of controller '${controllerName(controller)}', whose keys back off as by default where it fails`;
    limiters.set(controller, new GuardedLimiter(limiter, { invoke, onError: (error) => onError(error, what) }));
  }
  return limiters;
}

/** The states that are logged, each with its level and its text. */
const LOGGED: Readonly<Partial<Record<ControllerState["kind"], readonly ["error" | "warn" | "info", string]>>> = {
  suspended: ["error", "Controller suspended"],
  slowed: ["warn", "Controller slowed"],
  unavailable: ["warn", "Controller unavailable"],
  waiting: ["info", "Controller waits"],
  running: ["info", "Controller runs"],
};

/** Returns a function to call when the state of the controller may have changed. */
function stateLog(controller: Pick<RunningController, "name" | "module" | "state">, log: Log): () => void {
  let last: string = controller.state.kind;
  return () => {
    const { kind, message } = controller.state;
    // Each new attempt of a controller that cannot work begins with syncing.
    if (kind === "syncing" || kind === last) return;
    last = kind;
    const [level, text] = LOGGED[kind] ?? [];
    if (level === undefined) return;
    const reason = message === undefined ? {} : { reason: message };
    log[level](text!, { module: controller.module, controller: controller.name, ...reason });
  };
}

/** Versions that others have replaced, until they have ended. */
export class LeavingVersions {
  readonly #log: Pick<Log, "error">;
  /** The promised ends of all leaving versions, by module. */
  readonly #ends = new Map<string, Promise<void>>();

  constructor(log: Pick<Log, "error">) {
    this.#log = log;
  }

  /** Ends a version while another one works, and disposes of its code. Never rejects. */
  add(version: ModuleVersion, grace: GracePeriod): Promise<void> {
    const { module } = version;
    const { name } = module;
    const end = Promise.all([version.end(grace), this.#ends.get(name)])
      .catch((error: unknown) => this.#log.error("Cannot end a version", { module: name, error }))
      .then(() => {
        if (this.#ends.get(name) === end) this.#ends.delete(name);
        module.dispose();
      });
    this.#ends.set(name, end);
    return end;
  }

  /** Resolves when no version of the module is leaving. */
  async ended(name: string): Promise<void> {
    for (let end = this.#ends.get(name); end !== undefined; end = this.#ends.get(name)) await end;
  }

  async allEnded(): Promise<void> {
    while (this.#ends.size > 0) await Promise.all(this.#ends.values());
  }
}
