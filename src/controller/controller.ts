/**
 * A running controller: informers feed the queue, and workers empty it.
 *
 * A controller never stops its neighbours. While a kind does not exist it waits, while a request is refused it is
 * unavailable, and it continues by itself afterwards.
 */
import type { SlotSet } from "../cache/slots.ts";
import { KubeClient } from "../client/kube-client.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { Log } from "../observe/log.ts";
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import type { AppliedMemory } from "../client/applied-memory.ts";
import { controllerEnvironment } from "./controller-environment.ts";
import { ControllerEvents } from "./controller-events.ts";
import { ControllerGate } from "./controller-gate.ts";
import { ControllerShare } from "./controller-share.ts";
import { controllerQueue, queueSettings } from "./controller-queue.ts";
import { ReconcileExecutor } from "./reconcile-executor.ts";
import { Retirement } from "./retirement.ts";
import { ASKED, GAINED, NEW_TERM, RELOADED } from "./causes.ts";
import { type ControllerState, stateOf, STOPPED } from "./controller-state.ts";
import { declarationsOf } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import { ownNewsOf } from "./event-mapping.ts";
import type { Duty } from "./duty.ts";
import { endAllRuns, endRuns } from "./end-runs.ts";
import { FailureReports } from "./failure-reports.ts";
import { type ControllerVersion, controllerVersion, type Handover, retelling } from "./handover.ts";
import { LateSync } from "./late-sync.ts";
import { ControllerSources } from "./key-sources.ts";
import { PendingEnqueues } from "./pending-enqueues.ts";
import type { RunningController, StartOptions } from "./running-controller.ts";
import type { Runtime } from "./runtime.ts";
import { WatchedKinds } from "./watched-kinds.ts";
import { controllerWorkers } from "./controller-workers.ts";
import type { Workers } from "./workers.ts";

export type { RunningController, StartOptions };
/** Starts a controller. It watches at once and runs keys as soon as its caches have synced. */
export function startController(controller: AnyController, runtime: Runtime, options: StartOptions): RunningController {
  return new ControllerEngine(controller, runtime, options);
}

class ControllerEngine implements RunningController {
  readonly name: string;
  readonly module: string;
  readonly queue: WorkQueue;
  readonly finalizers: readonly string[];
  readonly #runtime: Runtime;
  /** Its lines name the module and the controller. */
  readonly #log: Log;
  readonly #version: ControllerVersion;
  readonly #sources: ControllerSources;
  readonly #kinds: WatchedKinds;
  readonly #cleanup = new DisposableStack();
  readonly #listeners = new Set<() => void>();
  readonly #workers: Workers;
  readonly #stopping = new AbortController();
  /** Ends the requests of `enqueue` functions: with the controller, or once they have answered for the next version. */
  readonly #mapping = new AbortController();
  readonly #queueMetrics: QueueMetrics;
  readonly #applied: AppliedMemory;
  readonly #gate: ControllerGate;
  readonly #events: ControllerEvents;
  #beginning = false;
  #stopped: Promise<void> | undefined;
  readonly #executor: ReconcileExecutor;
  readonly #pending: PendingEnqueues;
  /** The part of the keys that this replica works; `undefined` for all. */
  readonly #share: ControllerShare | undefined;
  #hasSynced = false;
  /** `undefined` until all else has been set up. */
  readonly #late: LateSync | undefined;
  #retirement: Retirement | undefined;
  #working = false;
  /** Whether a term of leadership has begun before. */
  #hasLed: boolean;
  #isHandedOver = false;

  constructor(controller: AnyController, runtime: Runtime, options: StartOptions) {
    const declarations = declarationsOf(controller);
    const { clock, metrics } = runtime;
    const { invoke } = options;
    const settings = queueSettings(controller, options.limiter, () => this.#workers.wake());
    const before = options.before?.handOver();
    this.#runtime = runtime;
    this.name = declarations.name;
    this.module = options.module;
    this.finalizers = declarations.finalizers;
    this.#gate = new ControllerGate(runtime.leadership);
    this.#log = runtime.log.with({ module: this.module, controller: this.name });
    this.#pending = new PendingEnqueues({ clock, log: this.#log });
    this.#queueMetrics = before?.queueMetrics ?? metrics.queue(this.name);
    const about = { name: this.name, clock, metrics: this.#queueMetrics, before: before?.queue };
    this.queue = controllerQueue(settings, about);
    this.#share =
      runtime.shards &&
      new ControllerShare(runtime.shards, controller, {
        informers: () => this.#kinds.divided,
        onGained: (slots) => this.#gained(slots),
        onDrop: (slots) => this.#drop(slots),
      });
    if (before?.share !== undefined) this.#share?.continue(before.share);
    this.#kinds = new WatchedKinds({
      runtime,
      share: this.#share,
      user: `${this.module}/${this.name}`,
      onChange: () => this.#update(),
    });
    const environment = controllerEnvironment(controller, runtime, {
      module: this.module,
      declared: this.#kinds.declared,
      gate: this.#gate,
      log: this.#log,
      applied: before?.applied,
      metrics: options.metrics,
    });
    const { core } = environment;
    this.#cleanup.use(core.reader);
    this.#applied = core.applied;
    this.#executor = new ReconcileExecutor(controller, {
      declarations,
      environment,
      kinds: this.#kinds,
      memory: core.applied,
      isDefined: (resource) => runtime.definedKinds.has(resource),
      invoke,
      add: (key, about) => this.queue.add(key, about),
      share: this.#share,
      pendingFinalizations: before?.pendingFinalizations,
      around: { runtime, module: this.module, signal: this.#stopping.signal, before: before?.objects },
    });
    const reports = new FailureReports({ retry: controller.retry, declarations, clock });
    const parts = {
      module: this.module,
      queue: this.queue,
      executor: this.#executor,
      gate: this.#gate,
      log: this.#log,
    };
    const budget = { keys: () => this.#kinds.primary?.store.size, onChange: () => this.#changed() };
    this.#workers = this.#cleanup.use(controllerWorkers(controller, runtime, { ...parts, reports, budget }));
    this.#events = new ControllerEvents({
      controller: this.name,
      finalizers: declarations.finalizers,
      ownNews: ownNewsOf(controller),
      client: new KubeClient(core, { gate: this.#gate, requestSignal: this.#mapping.signal, origin: "" }),
      queue: this.queue,
      workers: this.#workers,
      kinds: this.#kinds,
      mapper: runtime.mapper,
      reports,
      memory: core.applied,
      pendingFinalizations: this.#executor.pendingFinalizations,
      pendingEnqueues: this.#pending,
      isWorking: () => this.#working,
      invoke,
      log: this.#log,
    });
    this.#version = controllerVersion(declarations, this.#events);
    before?.workers.handOver(this.#workers);
    this.#hasLed = before?.hasLed === true;
    this.#events.cause = before && RELOADED;
    this.#kinds.watch(declarations, this.#events, before && retelling(controller, this.#version, before));
    this.#cleanup.use(this.#executor.objects.follow());
    if (before?.hasFoundMissed === true && this.#kinds.hasSamePrimary) this.#executor.missed = "found";
    this.#sources = new ControllerSources(declarations.sources, {
      clock,
      signal: this.#stopping.signal,
      since: before?.sourcesSince,
      named: runtime.sources,
      add: (key, cause) => this.queue.add(key, { cause }),
      refuses: (key) => runtime.leadership.refused ?? this.#share?.refuses(key, this.#kinds.primary?.store),
      everything: (cause) => {
        if (runtime.leadership.isLeader) this.#executor.addAll(this.#events, cause);
      },
      invoke,
      onError: (error) => this.#log.error("A source failed", { error }),
    });
    this.#cleanup.use(runtime.finalizers.own(declarations, this.#kinds.primary));
    this.#cleanup.use(runtime.leadership.onChange((isLeader) => this.#onLeadership(isLeader)));
    if (this.#share !== undefined) this.#cleanup.use(runtime.shards!.join(this.#share));
    if (runtime.leadership.isLeader) this.#lead();
    if (runtime.pause !== undefined) this.#cleanup.use(runtime.pause.onChange(() => this.#openWorkers()));
    this.#cleanup.use(runtime.transport.reachability.onChange((reachable) => this.#onReachability(reachable)));
    this.#late = this.#cleanup.use(
      new LateSync(controller.syncTimeout, {
        clock,
        log: this.#log,
        missing: () => (this.#hasSynced ? [] : this.#kinds.leases.filter(({ hasSynced }) => !hasSynced)),
        onLate: () => this.#changed(),
      }),
    );
    this.#hasSynced = before?.hasSynced === true && this.#kinds.synced;
    this.#update();
    this.#kinds.forgetBefore();
    this.#events.cause = undefined;
  }

  get state(): ControllerState {
    if (this.#stopping.signal.aborted) return STOPPED;
    const { leases } = this.#kinds;
    const { budget } = this.#workers;
    return stateOf({ leases, working: this.#working, late: this.#late?.message, budget });
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get stuck(): readonly { readonly key: string; readonly since: number }[] {
    return [...this.#workers.stuck, ...this.#executor.objects.stuck];
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  stop(options: { readonly grace: number }): Promise<void> {
    return (this.#stopped ??= this.#stop(options.grace));
  }

  handOver(): Handover {
    this.#isHandedOver = true;
    this.quiesce();
    this.#kinds.detach();
    return {
      ...this.#version,
      queue: this.queue,
      queueMetrics: this.#queueMetrics,
      workers: this.#workers,
      applied: this.#applied,
      pendingFinalizations: this.#executor.pendingFinalizations,
      objects: this.#executor.objects,
      hasFoundMissed: this.#executor.missed === "found",
      share: this.#share,
      hasSynced: this.#hasSynced,
      hasLed: this.#hasLed,
      sourcesSince: this.#sources.since,
      handled: this.#kinds.handled,
    };
  }

  quiesce(): void {
    if (this.#stopping.signal.aborted) return;
    this.#workers.open = false;
    const why = new Error(`controller '${this.name}' is stopping`);
    this.#stopping.abort(why);
    // The next version receives no events whose keys `enqueue` functions are still determining.
    if (!this.#isHandedOver) this.#mapping.abort(why);
    this.#changed();
    this.#workers.leave(why.message);
  }

  resume(): void {
    this.#workers.resume();
  }

  async drained(): Promise<void> {
    await Promise.all([this.#workers.drained(), this.#executor.objects.drained()]);
  }

  reconcileAll(): void {
    if (this.#stopping.signal.aborted) return;
    const { for: primary, sources } = this.#version.declarations;
    if (primary !== undefined || sources.length > 0) this.#executor.addAll(this.#events, ASKED);
    if (primary === undefined) this.#kinds.redeliver();
  }

  async retire(duty: Exclude<Duty, "reconcile">, options: { readonly grace: number }): Promise<Retirement> {
    const retirement = new Retirement({
      declarations: this.#version.declarations,
      executor: this.#executor,
      workers: this.#workers,
      kinds: this.#kinds,
      queue: this.queue,
      runtime: this.#runtime,
      log: this.#log,
      signal: this.#stopping.signal,
    });
    this.#retirement = this.#cleanup.use(retirement);
    this.#executor.objects.leave("its controller only finalizes from now on");
    await retirement.begin(duty, options);
    return retirement;
  }

  async #stop(grace: number): Promise<void> {
    const why = `controller '${this.name}' has stopped`;
    this.quiesce();
    await endAllRuns({
      workers: this.#workers,
      others: [this.#executor.objects.drained(), this.#isHandedOver ? this.#pending.idle() : undefined],
      gate: this.#gate,
      grace,
      why,
      clock: this.#runtime.clock,
      log: this.#log,
    });
    this.#mapping.abort(new Error(why));
    if (this.#isHandedOver) this.#workers.abandon();
    else {
      this.queue.stop();
      this.#queueMetrics[Symbol.dispose]();
    }
    this.#cleanup.dispose();
    this.#kinds[Symbol.dispose]();
  }

  /** Called when an informer's state changes. */
  #update(): void {
    this.#share?.look();
    if (!this.#kinds.synced || this.#stopping.signal.aborted) {
      this.#working = false;
      this.#workers.open = false;
    } else if (!this.#working && !this.#beginning) {
      void this.#begin();
    }
    this.#retirement?.look();
    this.#changed();
  }

  /** Starts the workers once every handler has processed the initial lists. */
  async #begin(): Promise<void> {
    this.#beginning = true;
    this.#kinds.deliver();
    await this.#pending.answered();
    this.#beginning = false;
    if (this.#stopping.signal.aborted || !this.#kinds.synced) return;
    this.#working = true;
    if (!this.#share) void this.#executor.findAllMissed(this.#runtime, this.#stopping.signal);
    this.#hasSynced = true;
    this.#late?.end();
    this.#openWorkers();
    this.#changed();
  }

  /** While the server is unreachable no run can succeed: keys wait without back-off. */
  #onReachability(reachable: boolean): void {
    if (!this.#working) return;
    if (reachable) this.queue.expedite();
    this.#openWorkers();
  }

  /**
   * Caches and queue are kept up to date without leadership, so that runs begin at once when a term begins. The previous
   * leader may have left keys half done, so a second term begins with all keys.
   */
  #onLeadership(isLeader: boolean): void {
    // Runs that are under way in a version that has handed over, or that stops, must not write in a later term either.
    if (!isLeader) this.#workers.cancel("leadership was lost");
    if (this.#stopping.signal.aborted) return;
    if (!isLeader) {
      this.#share?.lost();
      this.#workers.open = false;
      return;
    }
    if (this.#hasLed) this.#executor.addAll(this.#events, NEW_TERM);
    this.#lead();
    this.#openWorkers();
  }

  /** The sources begin with the first term; before it, another process leads and handles their keys. */
  #lead(): void {
    this.#hasLed = true;
    this.#sources.begin();
  }

  /** Runs all of these keys, because the replica that worked them before may have left one half done. */
  #gained(slots: SlotSet): void {
    const isMeant = (object: AnyObject): boolean => this.#share!.isIn(slots, object);
    this.#executor.addAll(this.#events, GAINED, isMeant);
    this.#executor.objects.lookAgain(isMeant);
    // Only the watched kinds show which keys without an object exist.
    if (this.#version.declarations.for === undefined) this.#kinds.redeliver();
    void this.#executor.findMissedFinalizations(this.#runtime, this.#stopping.signal, { isMeant });
  }

  /** Ends the runs of these keys, or cuts them off from writing. Then another replica begins. */
  async #drop(slots: SlotSet): Promise<void> {
    const share = this.#share!;
    const daemonsEnded = this.#executor.objects.handOver((object) => share.isIn(slots, object));
    const about = { ...this.#runtime, grace: this.#runtime.settings["grace-period"], log: this.#log };
    await endRuns(this.#workers, (run) => share.isRunIn(slots, run), about);
    await daemonsEnded;
    this.#executor.pendingFinalizations.retain((object) => !share.isIn(slots, object));
  }

  #openWorkers(): void {
    const { leadership, pause, transport } = this.#runtime;
    const isWorking = this.#working && !this.#stopping.signal.aborted && leadership.isLeader;
    if (isWorking && this.#retirement === undefined) this.#executor.objects.open();
    this.#workers.open = isWorking && transport.reachability.reachable && pause?.isPaused !== true;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
