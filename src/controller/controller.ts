/**
 * A running controller: informers feed the queue, and workers empty it.
 *
 * A controller never stops its neighbours. While a kind does not exist it waits, while a request is refused it is
 * unavailable, and it continues by itself afterwards.
 */
import type { SlotSet } from "../cache/slots.ts";
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import { DEFAULT_BACK_OFF, exponential, type RateLimiter } from "../queue/rate-limiter.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import type { Cause } from "../resource/cause.ts";
import { parseDuration } from "../resource/duration.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { controllerEnvironment } from "./controller-environment.ts";
import { ControllerEvents, PendingEnqueues } from "./controller-events.ts";
import { type ControllerScope, controllerScope, type Invoke } from "./controller-scope.ts";
import { ControllerShare } from "./controller-share.ts";
import { type ControllerState, LateSync, stateOf, STOPPED } from "./controller-state.ts";
import type { AnyController } from "./definition.ts";
import { endAllRuns, endRuns } from "./end-runs.ts";
import { FailureReports } from "./failure-reports.ts";
import { type Handover, retelling } from "./handover.ts";
import { ControllerSources } from "./key-sources.ts";
import { Members } from "./members.ts";
import { ObjectSources } from "./object-sources.ts";
import { MissedFinalizations, PendingFinalizations } from "./pending-finalizations.ts";
import { type Duty, ReconcileExecutor } from "./reconcile-executor.ts";
import { Retirement } from "./retirement.ts";
import type { Runtime } from "./runtime.ts";
import { WatchedKinds } from "./watched-kinds.ts";
import { Workers } from "./workers.ts";

export interface StartOptions {
  /** The module that the controller comes from, for logs and messages. */
  readonly module: string;
  /** Calls into the author's code in the context of its module. */
  readonly invoke: Invoke;
  /** The metrics object of the author's code. @default none */
  readonly metrics?: object | undefined;
  /**
   * The limiter that the author's `retry.limiter` returned. @default exponential back-off, by the other options of
   * `retry`
   */
  readonly limiter?: RateLimiter | undefined;
  /** The previous version, which hands over to this one. @default none */
  readonly before?: RunningController | undefined;
}

/** A controller from its start to its stop, as other parts of the process see it. */
export type RunningController = Pick<ControllerEngine, keyof ControllerEngine>;

/** Starts a controller. It watches at once and runs keys as soon as its caches have synced. */
export function startController(controller: AnyController, runtime: Runtime, options: StartOptions): RunningController {
  return new ControllerEngine(controller, runtime, options);
}

class ControllerEngine {
  readonly queue: WorkQueue;
  readonly #scope: ControllerScope;
  readonly #sources: ControllerSources;
  readonly #kinds: WatchedKinds;
  readonly #cleanup = new DisposableStack();
  readonly #listeners = new Set<() => void>();
  readonly #workers: Workers;
  readonly #stopping = new AbortController();
  /**
   * Ends the requests of `enqueue` functions: when the controller ends, or once they have answered for the next
   * version.
   */
  readonly #mapping = new AbortController();
  readonly #queueMetrics: QueueMetrics;
  readonly #applied: AppliedMemory;
  readonly #events: ControllerEvents;
  #beginning = false;
  #stopped: Promise<void> | undefined;
  readonly #members: Members;
  readonly #pendingFinalizations: PendingFinalizations;
  readonly #missed: MissedFinalizations;
  /** Daemons and timers of the objects. */
  readonly #objects: ObjectSources;
  readonly #executor: ReconcileExecutor;
  readonly #pending: PendingEnqueues;
  /** The part of the keys on which this replica works; `undefined` for all. */
  readonly #share: ControllerShare | undefined;
  #hasSynced = false;
  readonly #late: LateSync;
  #retirement: Retirement | undefined;
  #working = false;
  /** Whether a term of leadership has begun before. */
  #hasLed = false;
  #isHandedOver = false;

  /** Puts the controller together: each part gets the shared scope, and the earlier parts with which it works. */
  constructor(controller: AnyController, runtime: Runtime, options: StartOptions) {
    const { module, invoke, metrics, limiter } = options;
    const before = options.before?.handOver(); // no function below may refer to it: that would keep all versions in memory
    const scope = controllerScope(controller, runtime, { module, invoke, stopping: this.#stopping.signal });
    this.#scope = scope;
    this.#pending = new PendingEnqueues(scope);
    this.#queueMetrics = before?.queueMetrics ?? runtime.metrics.queue({ name: this.name });
    this.queue = controllerQueue(scope, {
      metrics: this.#queueMetrics,
      limiter,
      before: before?.queue,
      onReady: () => this.#workers.wake(),
    });
    this.#share =
      runtime.shards &&
      new ControllerShare(runtime.shards, scope, {
        before: before?.share,
        informers: () => this.#kinds.divided,
        onGained: (slots) => this.#gained(slots),
        onDrop: (slots) => this.#drop(slots),
      });
    this.#kinds = new WatchedKinds(scope, { share: this.#share, onChange: () => this.#update() });
    const environment = controllerEnvironment(scope, {
      declared: this.#kinds.declared,
      applied: before?.applied,
      metrics,
    });
    const { core } = environment;
    this.#applied = core.applied;
    this.#pendingFinalizations = before?.pendingFinalizations ?? new PendingFinalizations();
    const parts = {
      kinds: this.#kinds,
      queue: this.queue,
      share: this.#share,
      pendingFinalizations: this.#pendingFinalizations,
    };
    this.#members = new Members(scope, parts);
    this.#missed = new MissedFinalizations(scope, parts);
    this.#objects = new ObjectSources(scope, { ...parts, environment, members: this.#members }, before?.objects);
    this.#executor = new ReconcileExecutor(scope, {
      ...parts,
      environment,
      daemonsEnded: (key) => this.#objects.ended(key),
    });
    const reports = new FailureReports(scope);
    this.#workers = new Workers(scope, {
      queue: this.queue,
      executor: this.#executor,
      reports,
      keys: () => this.#kinds.primary?.store.size,
      onBudget: () => this.#changed(),
    });
    this.#events = new ControllerEvents(scope, {
      ...parts,
      core,
      workers: this.#workers,
      reports,
      pendingEnqueues: this.#pending,
      isWorking: () => this.#working,
      mapping: this.#mapping.signal,
    });
    this.#sources = new ControllerSources(
      scope,
      {
        add: (key, cause) => this.queue.add(key, { cause }),
        refuses: (key) => runtime.leadership.refused ?? this.#share?.refuses(key, this.#kinds.primary?.store),
        everything: (cause) => {
          if (runtime.leadership.isLeader) this.#members.addAll(cause);
        },
      },
      before?.sourcesSince,
    );
    this.#late = new LateSync(scope, {
      missing: () => (this.#hasSynced ? [] : this.#kinds.leases.filter(({ hasSynced }) => !hasSynced)),
      onLate: () => this.#changed(),
    });
    this.#cleanup.use(core.reader);
    this.#cleanup.use(this.#workers);
    this.#start(before);
    this.#cleanup.use(this.#late);
  }

  /** Starts the watches, and follows the conditions under which runs may begin. */
  #start(before: Handover | undefined): void {
    const { declarations, runtime } = this.#scope;
    const { leadership, pause, shards, transport } = runtime;
    before?.workers.handOver(this.#workers);
    this.#hasLed = before?.hasLed === true;
    this.#events.cause = before && RELOADED;
    this.#kinds.watch(this.#events, before && retelling(this.#scope, this.#members, before));
    this.#cleanup.use(this.#objects.follow());
    this.#missed.areComplete = before?.hasFoundMissed === true && this.#kinds.hasSamePrimary;
    this.#sources.listen();
    this.#cleanup.use(runtime.finalizers.own(declarations, this.#kinds.primary));
    this.#cleanup.use(leadership.onChange((isLeader) => this.#onLeadership(isLeader)));
    if (this.#share !== undefined) this.#cleanup.use(shards!.join(this.#share));
    if (leadership.isLeader) this.#lead();
    if (pause !== undefined) this.#cleanup.use(pause.onChange(() => this.#openWorkers()));
    this.#cleanup.use(transport.reachability.onChange((reachable) => this.#onReachability(reachable)));
    this.#hasSynced = before?.hasSynced === true && this.#kinds.synced;
    this.#update();
    this.#kinds.forgetBefore();
    this.#events.cause = undefined;
  }

  get name(): string {
    return this.#scope.declarations.name;
  }

  get module(): string {
    return this.#scope.module;
  }

  /** The finalizers of this controller and its earlier names; empty when it finalizes nothing. */
  get finalizers(): readonly string[] {
    return this.#scope.declarations.finalizers;
  }

  get state(): ControllerState {
    if (this.#stopping.signal.aborted) return STOPPED;
    const { leases } = this.#kinds;
    const { budget } = this.#workers;
    return stateOf({ leases, working: this.#working, late: this.#late.message, budget });
  }

  /** Whether its caches have synced once. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** The cancelled runs that have not settled. */
  get stuck(): readonly { readonly key: string; readonly since: number }[] {
    return [...this.#workers.stuck, ...this.#objects.stuck];
  }

  /** The kind of `for`; `undefined` for a controller of keys without objects. */
  get resource(): Resource | undefined {
    return this.#scope.declarations.for?.resource;
  }

  /** The maximum number of runs at the same time. */
  get concurrency(): number {
    return this.#scope.controller.concurrency ?? this.#scope.runtime.settings.concurrency;
  }

  /** Whether this replica works on a key, as far as the queue and the caches show. */
  works(key: string): boolean {
    const object = this.#kinds.primary?.store.get(key);
    return object === undefined ? this.queue.has(key) || key === this.name : this.#members.isOurs(object);
  }

  /** Runs a key as soon as possible, without the back-off of earlier failures and although it may be parked. */
  retry(key: string): void {
    this.queue.forget(key);
    this.queue.add(key, { cause: ASKED, priority: FIRST });
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Quiesces. Active runs have `grace` milliseconds to end, then their writes are refused. */
  stop(options: { readonly grace: number }): Promise<void> {
    return (this.#stopped ??= this.#stop(options.grace));
  }

  /** Quiesces, and leaves the queue and the events to the next version. Active runs end with {@link stop}. */
  handOver(): Handover {
    this.#isHandedOver = true;
    this.quiesce();
    this.#kinds.detach();
    return {
      declarations: this.#scope.declarations,
      members: this.#members,
      queue: this.queue,
      queueMetrics: this.#queueMetrics,
      workers: this.#workers,
      applied: this.#applied,
      pendingFinalizations: this.#pendingFinalizations,
      objects: this.#objects,
      hasFoundMissed: this.#missed.areComplete,
      share: this.#share,
      hasSynced: this.#hasSynced,
      hasLed: this.#hasLed,
      sourcesSince: this.#sources.since,
      handled: this.#kinds.handled,
    };
  }

  /** Ends the sources and begins no more runs. The signals of active runs fire, and these go on. */
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

  /** Lets runs begin as usual again, although they have failed. */
  resume(): void {
    this.#workers.resume();
  }

  /** Resolves when no run is active. */
  async drained(): Promise<void> {
    await Promise.all([this.#workers.drained(), this.#objects.drained()]);
  }

  /** Queues every key. */
  reconcileAll(): void {
    if (this.#stopping.signal.aborted) return;
    const { for: primary, sources } = this.#scope.declarations;
    if (primary !== undefined || sources.length > 0) this.#members.addAll(ASKED);
    if (primary === undefined) this.#kinds.redeliver();
  }

  /**
   * Ends reconciling, and finalizes until no object has the controller's finalizers. Resolves when no run reconciles
   * any more. Only for a controller with finalizers; may be called once.
   */
  async retire(duty: Exclude<Duty, "reconcile">, options: { readonly grace: number }): Promise<Retirement> {
    const retirement = new Retirement(this.#scope, {
      executor: this.#executor,
      workers: this.#workers,
      kinds: this.#kinds,
      queue: this.queue,
      pendingFinalizations: this.#pendingFinalizations,
      missed: this.#missed,
    });
    this.#retirement = this.#cleanup.use(retirement);
    this.#objects.leave("its controller only finalizes from now on");
    await retirement.begin(duty, options);
    return retirement;
  }

  async #stop(grace: number): Promise<void> {
    const why = `controller '${this.name}' has stopped`;
    this.quiesce();
    await endAllRuns(this.#scope, {
      workers: this.#workers,
      others: [this.#objects.drained(), this.#isHandedOver ? this.#pending.idle() : undefined],
      grace,
      why,
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
    if (!this.#share) void this.#missed.findAll();
    this.#hasSynced = true;
    this.#late.end();
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
   * Caches and queue are kept up to date without leadership, so that runs begin at once when a term begins. The
   * previous leader may have left keys half done, so a second term begins with all keys.
   */
  #onLeadership(isLeader: boolean): void {
    // Runs under way in a version that has handed over, or that stops, must not write in a later term either.
    if (!isLeader) this.#workers.cancel("leadership was lost");
    if (this.#stopping.signal.aborted) return;
    if (!isLeader) {
      this.queue.release();
      this.#share?.lost();
      this.#workers.open = false;
      return;
    }
    if (this.#hasLed) this.#members.addAll(NEW_TERM);
    this.#lead();
    this.#openWorkers();
  }

  /** The sources begin with the first term; before it, another process leads and handles their keys. */
  #lead(): void {
    this.#hasLed = true;
    this.#sources.begin();
  }

  /** Runs all of these keys, because the replica that worked on them before may have left one half done. */
  #gained(slots: SlotSet): void {
    const isMeant = (object: AnyObject): boolean => this.#share!.isIn(slots, object);
    this.#members.addAll(GAINED, isMeant);
    this.#objects.lookAgain(isMeant);
    // Only the watched kinds show which keys without an object exist.
    if (this.#scope.declarations.for === undefined) this.#kinds.redeliver();
    void this.#missed.find({ isMeant });
  }

  /** Ends the runs of these keys, or prevents their writes. Then another replica begins. */
  async #drop(slots: SlotSet): Promise<void> {
    const share = this.#share!;
    const daemonsEnded = this.#objects.handOver((object) => share.isIn(slots, object));
    await endRuns(this.#scope, { workers: this.#workers, isMeant: (run) => share.isRunIn(slots, run) });
    await daemonsEnded;
    this.queue.release((key) => share.refuses(key, this.#kinds.primary?.store) !== undefined);
    this.#pendingFinalizations.retain((object) => !share.isIn(slots, object));
  }

  #openWorkers(): void {
    const { leadership, pause, transport } = this.#scope.runtime;
    const isWorking = this.#working && !this.#stopping.signal.aborted && leadership.isLeader;
    if (isWorking && this.#retirement === undefined) this.#objects.open();
    this.#workers.open = isWorking && transport.reachability.reachable && pause?.holds(this.module) !== true;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** This replica has taken over the keys from another one. */
const GAINED: Cause = Object.freeze({ source: "shards", type: "generic" });
/** The process leads again. */
const NEW_TERM: Cause = Object.freeze({ source: "leadership", type: "generic" });
/** The priority of a key that a person waits for. */
const FIRST = 100;
/** Someone has requested the run. */
const ASKED: Cause = Object.freeze({ source: "by request", type: "generic" });
/** A new version of the module works. */
const RELOADED: Cause = Object.freeze({ source: "reload", type: "generic" });

interface ControllerQueueOptions {
  readonly metrics: QueueMetrics;
  /** The limiter that the author's `retry.limiter` returned. @default exponential back-off */
  readonly limiter: RateLimiter | undefined;
  /** The queue of the previous version, which now gets the options of this one. @default a new queue */
  readonly before: WorkQueue | undefined;
  /** Called when a key is ready. */
  readonly onReady: () => void;
}

function controllerQueue(
  { controller, declarations, runtime }: ControllerScope,
  { metrics, limiter, before, onReady }: ControllerQueueOptions,
): WorkQueue {
  const { retry = {}, minInterval = 0, debounce = 0 } = controller;
  const { first = DEFAULT_BACK_OFF.first, max = DEFAULT_BACK_OFF.max } = retry;
  const settings = {
    onReady,
    limiter: limiter ?? exponential(parseDuration(first, "retry.first"), parseDuration(max, "retry.max")),
    minInterval: parseDuration(minInterval, "minInterval"),
    debounce: parseDuration(debounce, "debounce"),
  };
  if (before === undefined)
    return new WorkQueue({ ...settings, name: declarations.name, clock: runtime.clock, metrics });
  before.configure(settings);
  return before;
}
