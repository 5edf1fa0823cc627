/**
 * A running controller: informers feed the queue, workers empty it.
 *
 * A controller never stops its neighbours. While a kind does not exist it waits, while a request is refused it is
 * unavailable, and it continues by itself afterwards.
 */
import type { SlotSet } from "../cache/slots.ts";
import { clientCore, KubeClient } from "../client/kube-client.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import type { ControllerEnvironment } from "../reconcile/run.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { Log } from "../observe/log.ts";
import { ControllerEvents } from "./controller-events.ts";
import { ControllerGate } from "./controller-gate.ts";
import { ControllerShare } from "./controller-share.ts";
import { controllerQueue } from "./controller-queue.ts";
import { ReconcileExecutor } from "./reconcile-executor.ts";
import { Retirement } from "./retirement.ts";
import { type ControllerState, stateOf, STOPPED } from "./controller-state.ts";
import { type Declarations, declarationsOf } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import { LOW_PRIORITY, ownNewsOf } from "./event-mapping.ts";
import type { Duty } from "./duty.ts";
import { endRuns } from "./end-runs.ts";
import { FailureReports } from "./failure-reports.ts";
import { LateSync } from "./late-sync.ts";
import { runSources } from "./key-sources.ts";
import type { Invoke } from "./object-reconciler.ts";
import { PendingEnqueues } from "./pending-enqueues.ts";
import { runLimit } from "./run-limit.ts";
import type { RunningController, StartOptions } from "./running-controller.ts";
import type { Runtime } from "./runtime.ts";
import { warnOnce } from "./undeclared-calls.ts";
import { WatchedKinds } from "./watched-kinds.ts";
import { within } from "./within.ts";
import { Workers } from "./workers.ts";

export type { RunningController, StartOptions };

const DEFAULT_CONCURRENCY = 4;

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
  readonly #declarations: Declarations;
  readonly #invoke: Invoke;
  readonly #kinds: WatchedKinds;
  readonly #cleanup = new DisposableStack();
  readonly #listeners = new Set<() => void>();
  readonly #workers: Workers;
  readonly #stopping = new AbortController();
  readonly #gate: ControllerGate;
  readonly #events: ControllerEvents;
  #beginning = false;
  #stopped: Promise<void> | undefined;
  readonly #executor: ReconcileExecutor;
  readonly #pending: PendingEnqueues;
  /** What of the keys this replica works; `undefined` for all. */
  readonly #share: ControllerShare | undefined;
  #hasSynced = false;
  /** `undefined` until all else has been set up. */
  readonly #late: LateSync | undefined;
  #retirement: Retirement | undefined;
  #working = false;
  /** Whether a term of leadership has begun before. */
  #hasLed = false;

  constructor(controller: AnyController, runtime: Runtime, options: StartOptions) {
    const declarations = declarationsOf(controller);
    const { clock, metrics } = runtime;
    this.#runtime = runtime;
    this.#declarations = declarations;
    this.#invoke = options.invoke;
    this.name = declarations.name;
    this.module = options.module;
    this.finalizers = declarations.finalizers;
    this.#gate = new ControllerGate(runtime.leadership);
    this.#log = runtime.log.with({ module: this.module, controller: this.name });
    this.#pending = new PendingEnqueues({ clock, log: this.#log });

    const concurrency = controller.concurrency ?? runtime.concurrency ?? DEFAULT_CONCURRENCY;
    const controllerMetrics = this.#cleanup.use(metrics.controller(this.name, concurrency));
    this.queue = controllerQueue(controller, {
      name: this.name,
      clock,
      metrics: this.#cleanup.use(metrics.queue(this.name)),
      onReady: () => this.#workers.wake(),
    });

    const { transport, mapper, informers, log } = runtime;
    this.#share =
      runtime.shards &&
      new ControllerShare(runtime.shards, controller, {
        informers: () => this.#kinds.divided,
        onGained: (slots) => this.#gained(slots),
        onDrop: (slots) => this.#drop(slots),
      });
    this.#kinds = new WatchedKinds({
      runtime,
      share: this.#share,
      user: `${this.module}/${this.name}`,
      onChange: () => this.#update(),
    });
    const core = clientCore({
      transport,
      mapper,
      informers,
      manager: this.name,
      declared: this.#kinds.declared,
      permissions: declarations.permissions,
      onUndeclared: runtime.warnUndeclared ? warnOnce(this.#log) : undefined,
    });
    this.#cleanup.use(core.reader);
    const environment: ControllerEnvironment = {
      controller: this.name,
      core,
      transport,
      mapper,
      clock,
      log: log.with({ module: this.module }),
      events: runtime.events.for(this.name, runtime.leadership),
      gate: this.#gate,
    };
    this.#executor = new ReconcileExecutor(controller, {
      declarations,
      environment,
      kinds: this.#kinds,
      memory: core.applied,
      isDefined: (resource) => runtime.definedKinds.has(resource),
      invoke: this.#invoke,
      add: (key, about) => this.queue.add(key, about),
      share: this.#share,
    });

    const reports = new FailureReports({ retry: controller.retry, declarations, clock });
    this.#workers = new Workers({
      budget: runtime.errorBudget && { keys: () => this.#kinds.primary?.store.size, onChange: () => this.#changed() },
      queue: this.queue,
      concurrency,
      clock,
      log: this.#log,
      metrics: controllerMetrics,
      tellRunsAt: runtime.logsRuns === true ? "info" : "debug",
      retryLimit: controller.retry?.limit ?? Infinity,
      limit: runLimit(controller.timeout, clock),
      executor: this.#executor,
      onEnded: runtime.reportsFailures === false ? () => {} : (run, outcome) => reports.ended(run, outcome),
      turns: runtime.turns,
      mayWrite: () => this.#gate.refused === undefined,
      onParked: (run, reason) => reports.parked(run, reason),
    });
    this.#cleanup.use(this.#workers);
    this.#events = new ControllerEvents({
      controller: this.name,
      finalizers: declarations.finalizers,
      ownNews: ownNewsOf(controller),
      client: new KubeClient(core, { gate: this.#gate, requestSignal: this.#stopping.signal, origin: "" }),
      queue: this.queue,
      workers: this.#workers,
      kinds: this.#kinds,
      mapper,
      reports,
      memory: core.applied,
      pendingFinalizations: this.#executor.pendingFinalizations,
      pendingEnqueues: this.#pending,
      isWorking: () => this.#working,
      invoke: this.#invoke,
      log: this.#log,
    });
    this.#kinds.watch(declarations, this.#events);
    this.#cleanup.use(runtime.finalizers.own(declarations, this.#kinds.primary));
    this.#cleanup.use(runtime.leadership.onChange((isLeader) => this.#onLeadership(isLeader)));
    if (this.#share !== undefined) this.#cleanup.use(runtime.shards!.join(this.#share));
    if (runtime.leadership.isLeader) this.#keySources();
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
    this.#update();
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
    return this.#workers.stuck;
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  stop(options: { readonly grace: number }): Promise<void> {
    return (this.#stopped ??= this.#stop(options.grace));
  }

  quiesce(): void {
    if (this.#stopping.signal.aborted) return;
    this.#workers.open = false;
    this.#stopping.abort(new Error(`controller '${this.name}' is stopping`));
    this.#changed();
    this.#workers.leave(`controller '${this.name}' is stopping`);
  }

  resume(): void {
    this.#workers.resume();
  }

  drained(): Promise<void> {
    return this.#workers.drained();
  }

  reconcileAll(): void {
    if (this.#stopping.signal.aborted) return;
    const { for: primary, sources } = this.#declarations;
    if (primary !== undefined || sources.length > 0) this.#addAll(ASKED);
    if (primary === undefined) this.#kinds.redeliver();
  }

  async retire(duty: Exclude<Duty, "reconcile">, options: { readonly grace: number }): Promise<Retirement> {
    const retirement = new Retirement({
      declarations: this.#declarations,
      executor: this.#executor,
      workers: this.#workers,
      kinds: this.#kinds,
      queue: this.queue,
      runtime: this.#runtime,
      log: this.#log,
      signal: this.#stopping.signal,
    });
    this.#retirement = this.#cleanup.use(retirement);
    await retirement.begin(duty, options);
    return retirement;
  }

  async #stop(grace: number): Promise<void> {
    const { clock } = this.#runtime;
    this.quiesce();
    const drained = this.#workers.drained();
    await within(grace, { work: drained, clock });
    this.#gate.close(`controller '${this.name}' has stopped`);
    this.#workers.cancel(`controller '${this.name}' has stopped`);
    // A run that respects its signal ends now; one that does not can no longer write.
    await within(100, { work: drained, clock });
    const left = this.#workers.stuck.map(({ key }) => key);
    if (left.length > 0) {
      this.#log.warn("Runs did not end within the grace period; they can write nothing any more", {
        keys: left.slice(0, 10),
        runs: left.length,
      });
    }
    this.queue.stop();
    this.#cleanup.dispose();
    this.#kinds[Symbol.dispose]();
  }

  // Sources.

  /** Starts the sources with the first term; before it, another process leads and handles their keys. */
  #keySources(): void {
    if (this.#hasLed) return;
    this.#hasLed = true;
    const { clock, leadership } = this.#runtime;
    runSources(this.#declarations.sources, {
      clock,
      signal: this.#stopping.signal,
      add: (key, cause) => this.queue.add(key, { cause }),
      everything: (cause) => {
        if (leadership.isLeader) this.#addAll(cause);
      },
      invoke: this.#invoke,
      onError: (error) => this.#log.error("A source failed", { error }),
    });
  }

  #addAll(cause: Cause, isMeant?: (object: AnyObject) => boolean): void {
    for (const key of this.#executor.allKeys(this.#events, isMeant))
      this.queue.add(key, { cause, priority: LOW_PRIORITY });
  }

  // Starting and pausing the workers.

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
    const { signal } = this.#stopping;
    if (!this.#hasSynced && !this.#share) void this.#executor.findMissedFinalizations(this.#runtime, signal);
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
    if (this.#stopping.signal.aborted) return;
    if (!isLeader) {
      this.#share?.lost();
      this.#workers.open = false;
      this.#workers.cancel("leadership was lost");
      return;
    }
    if (this.#hasLed) this.#addAll(NEW_TERM);
    else this.#keySources();
    this.#openWorkers();
  }

  /** Whoever worked these before may have left a key half done, so all of them run. */
  #gained(slots: SlotSet): void {
    const isMeant = (object: AnyObject): boolean => this.#share!.isIn(slots, object);
    this.#addAll(GAINED, isMeant);
    // Which keys without an object there are, only the watched kinds tell.
    if (this.#declarations.for === undefined) this.#kinds.redeliver();
    void this.#executor.findMissedFinalizations(this.#runtime, this.#stopping.signal, { isMeant });
  }

  /** Runs of these keys end, or can write nothing any more: then another replica begins. */
  async #drop(slots: SlotSet): Promise<void> {
    const share = this.#share!;
    await endRuns(this.#workers, (run) => share.isRunIn(slots, run), { ...this.#runtime, log: this.#log });
    this.#executor.pendingFinalizations.retain((object) => !share.isIn(slots, object));
  }

  #openWorkers(): void {
    const { leadership, pause, transport } = this.#runtime;
    const mayWork = leadership.isLeader && transport.reachability.reachable && pause?.isPaused !== true;
    this.#workers.open = this.#working && !this.#stopping.signal.aborted && mayWork;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

const ASKED: Cause = Object.freeze({ source: "by request", type: "generic" });
const GAINED: Cause = Object.freeze({ source: "shards", type: "generic" });
const NEW_TERM: Cause = Object.freeze({ source: "leadership", type: "generic" });
