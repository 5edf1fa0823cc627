/**
 * The loop of a controller: takes keys from the queue and runs them, several at a time, but each key only once at a
 * time.
 *
 * A key that is ready calls `wake`. In its turn (`run-turns.ts`) `startRun` takes the key, `#work` executes the run and
 * gives the key back, and `#applyOutcome` decides when it runs again.
 */
import type { ControllerMetrics } from "../observe/controller-metrics.ts";
import { forgetStates } from "../history/event-cause.ts";
import { loopMarks, markText } from "../platform/loop-marks.ts";
import { causesWithValues, type QueueItem } from "../queue/entries.ts";
import { type AddOptions, LOW_PRIORITY, type WorkQueue } from "../queue/work-queue.ts";
import type { Result } from "../reconcile/context.ts";
import { failureMessage } from "../reconcile/kept-secrets.ts";
import type { KeyRun } from "../reconcile/key-run.ts";
import { parseDuration } from "../resource/duration.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { type BudgetState, ErrorBudget, type ErrorBudgetOptions } from "./error-budget.ts";
import type { FailureReports } from "./failure-reports.ts";
import { isPanic, type Outcome, outcomeOf, outcomeOfError } from "./outcome.ts";
import type { ReconcileExecutor } from "./reconcile-executor.ts";
import { becauseOf, beginRecord, endRecord } from "./run-records.ts";
import type { RunStarter } from "./run-turns.ts";

export interface WorkersParts {
  readonly queue: WorkQueue;
  readonly executor: ReconcileExecutor;
  readonly reports: FailureReports;
  /** How many keys the controller has; `undefined` when that is not known. */
  readonly keys: () => number | undefined;
  /** Called after {@link Workers.budget} has changed. */
  readonly onBudget: () => void;
}

/** How long a key waits that failed because the server is unreachable; the wait ends when the server returns. */
const UNREACHABLE_DELAY = 1_000;
/** The number of consecutive runs with manual writes after which the controller counts as being in an endless loop. */
const ENDLESS_STEPS = 1_000;

export class Workers implements RunStarter, Disposable {
  readonly #scope: ControllerScope;
  /** The names of module and controller, for reports of a blocked event loop. */
  readonly #about: object;
  readonly #queue: WorkQueue;
  readonly #executor: ReconcileExecutor;
  readonly #reports: FailureReports;
  readonly #metrics: ControllerMetrics;
  readonly #concurrency: number;
  /** Milliseconds that a run may take; `undefined` for no limit. */
  readonly #timeout: number | undefined;
  readonly #retryLimit: number;
  readonly #budget: ErrorBudget | undefined;
  /** The runs by key, from their beginning until they have ended or their keys have been passed on. */
  readonly #running = new Map<string, ActiveRun>();
  /** The number of consecutive runs that wrote something by hand, by key. */
  readonly #steps = new Map<string, number>();
  /** Set by the controller, which alone knows whether caches, leadership and the server let runs begin. */
  #open = false;
  /** Resolves when runs have ended, for callers that wait for that. */
  #ended: PromiseWithResolvers<void> | undefined;
  /**
   * The workers of the previous version while runs of theirs are active, which take up our places. Their `handOver`
   * sets it, and we drop it when they report their last end.
   */
  #before: Workers | undefined;
  /**
   * The workers of the next version. Once set, by `handOver`, they own the queue: we begin no run and only end the
   * active ones.
   */
  #next: Workers | undefined;

  constructor(scope: ControllerScope, { queue, executor, reports, keys, onBudget }: WorkersParts) {
    const { controller, declarations, module, runtime } = scope;
    const { clock, settings } = runtime;
    this.#scope = scope;
    this.#about = { module, controller: declarations.name };
    this.#queue = queue;
    this.#executor = executor;
    this.#reports = reports;
    this.#concurrency = controller.concurrency ?? settings.concurrency;
    this.#metrics = runtime.metrics.controller({ controller: declarations.name, concurrency: this.#concurrency });
    this.#timeout = controller.timeout === undefined ? undefined : parseDuration(controller.timeout, "timeout");
    this.#retryLimit = controller.retry?.limit ?? Infinity;
    const budget: ErrorBudgetOptions = {
      clock,
      keys,
      onReady: () => this.wake(),
      onRecovery: () => queue.expedite(),
      onChange: ({ kind }) => {
        if (kind === "suspended") this.#metrics.suspended();
        onBudget();
      },
    };
    this.#budget = settings["error-budget"] ? new ErrorBudget(budget) : undefined;
  }

  /** Lets the loop go on: a key is ready, or a worker may be free. */
  wake(): void {
    if (this.#isFree) this.#scope.runtime.turns.afterEvents(this);
  }

  /** One turn of the loop: takes a key and begins its run. @returns whether another run may begin. */
  startRun(): boolean {
    const queue = this.#queue;
    // A process that was suspended and resumed finds out here that it no longer leads.
    if (!this.#isFree || this.#scope.gate.refused !== undefined) return false;
    const item = queue.take();
    if (item === undefined) return false;
    const run = this.#executor.begin(item);
    if (run === undefined) {
      this.#steps.delete(item.key);
      queue.forget(item.key);
      queue.done(item.key);
    } else void this.#work(item, run);
    return this.#isFree;
  }

  /** Executes a run, and gives its key back to the queue. */
  async #work(item: QueueItem, run: KeyRun): Promise<void> {
    const { clock, history, reportsFailures, turns } = this.#scope.runtime;
    const running = new ActiveRun(item, run, this.#about);
    this.#running.set(item.key, running);
    if (history !== undefined) run.record = beginRecord(history, this.#scope, { item, run });
    this.#metrics.active(1);
    const began = clock.now();
    const timeout = this.#timeout;
    const timer = timeout === undefined ? undefined : clock.setTimeout(() => this.#onDeadline(running), timeout);
    let outcome: Outcome;
    try {
      outcome = outcomeOf(await running.begin((one) => this.#executor.execute(one)));
    } catch (error) {
      outcome = outcomeOfError(error, running.cancelled || run.isCutShort(error));
    }
    running.unmark();
    timer?.[Symbol.dispose]();
    if (timer !== undefined && running.cancelledAt !== undefined && !running.cancelled && outcome.kind !== "fail") {
      // The gate may have refused some of its writes.
      outcome = { kind: "fail", error: new Error(`Reconcile took longer than ${timeout} ms`) };
    }
    const reporting = reportsFailures === false ? undefined : this.#reports.ended(run, outcome);
    if (reporting !== undefined) await reporting;
    run.close("the run is over");
    if (running.abandoned) return;
    this.#running.delete(item.key);
    if (this.#isFree) turns.afterRun(this);
    if (running.cancelledAt !== undefined) this.#metrics.stuck(this.stuck.length);
    this.#metrics.active(-1);
    this.#applyOutcome({ item, run, outcome, seconds: (clock.now() - began) / 1000 });
    if (run.record !== undefined) endRecord(run, outcome, this.#queue);
    if (outcome.kind !== "cancelled" && outcome.kind !== "deferred") forgetStates(item.causes);
    if (outcome.kind === "done" || outcome.kind === "requeue") this.#requeueForOwnWrites(item.key, running);
    this.#queue.done(item.key);
    this.#someEnded();
  }

  /** Decides, by the outcome of a run, when its key runs again. */
  #applyOutcome(end: { item: QueueItem; run: KeyRun; outcome: Outcome; seconds: number }): void {
    const { item, run, outcome, seconds } = end;
    const queue = this.#queue;
    const metrics = this.#metrics;
    const { key } = item;
    const { trace } = run.record ?? {};
    this.#budget?.ended({ key, outcome, message: (error) => failureMessage(run, error) });
    // New keys go before failed ones, because they are more likely to succeed and to end the suspension.
    const priority = this.#budget?.isLimiting === true ? Math.min(item.priority, LOW_PRIORITY) : item.priority;
    switch (outcome.kind) {
      case "done":
        metrics.success(seconds, trace);
        queue.forget(key);
        this.#logRun(run, { seconds });
        return;
      case "requeue":
        metrics.requeueAfter(seconds, trace);
        this.#logRun(run, { seconds, again: outcome.after / 1000 });
        queue.forget(key);
        queue.add(key, { after: outcome.after, priority: outcome.priority ?? priority, cause: REQUEUED });
        return;
      case "deferred":
        metrics.requeueAfter(seconds, trace);
        this.#again(item, outcome);
        return;
      case "cancelled":
        run.log.info("The run was cancelled", { reason: run.refused ?? "it is to end" });
        if (this.#next !== undefined) this.#again(item);
        else this.#retry(item, { rateLimited: true, priority });
        return;
      case "unreachable":
        metrics.error(seconds, trace);
        run.log.debug("The server is away; the key runs again when it is back", { error: outcome.error });
        this.#retry(item, { after: UNREACHABLE_DELAY, priority });
        return;
      case "retry":
        metrics.error(seconds, trace);
        run.log.warn("Reconcile asks to be retried", { error: outcome.error, after: outcome.after });
        this.#retry(item, { after: outcome.after, priority });
        return;
      case "park":
        metrics.error(seconds, trace);
        metrics.terminal();
        this.#park(run, outcome.error);
        return;
      case "fail":
        metrics.error(seconds, trace);
        if (isPanic(outcome.error)) metrics.panic();
        if (queue.failures(key) + 1 > this.#retryLimit) {
          this.#park(run, outcome.error, `after ${this.#retryLimit + 1} failures in a row`);
          return;
        }
        queue.failed(key);
        run.log.error("Reconcile failed", { because: becauseOf(run), error: outcome.error, attempt: item.attempt });
        this.#retry(item, { rateLimited: true, priority });
        return;
    }
  }

  /** Queues the key of a run that was cut short or postponed again. The key has not failed, so it keeps its causes. */
  #again(item: QueueItem, { after, priority = item.priority }: Pick<AddOptions, "after" | "priority"> = {}): void {
    const earlier = item.causes.length === 0 ? [RETRIED] : item.causes;
    this.#queue.add(item.key, { after, priority, earlier });
  }

  /** Queues the key of a run that has failed. A daemon's value is passed to each run until one has succeeded. */
  #retry({ key, causes }: QueueItem, options: AddOptions): void {
    this.#queue.add(key, { ...options, cause: RETRIED, earlier: causesWithValues(causes) });
  }

  /** Queues the key again because of its run's manual writes. */
  #requeueForOwnWrites(key: string, { run, deferred }: ActiveRun): void {
    const steps = this.#steps.get(key) ?? 0;
    if (deferred === undefined) {
      if (steps > 0) this.#steps.delete(key);
      return;
    }
    for (const options of deferred) this.#queue.add(key, options);
    this.#executor.markOwnWritesObserved(run);
    this.#steps.set(key, steps + 1);
    if ((steps + 1) % ENDLESS_STEPS !== 0) return;
    run.log.warn(
      "Reconcile keeps itself running: each run writes something by hand that makes the next one run; write only " +
        "what differs, or set `reconcileOwnWrites: false`",
      { runs: steps + 1, because: becauseOf(run) },
    );
  }

  /** Parks the key of a run: it runs again only when its object changes. */
  #park(run: KeyRun, error: unknown, why = "by a terminal error"): void {
    const reason = failureMessage(run, error);
    if (!this.#queue.park(run.item.key, reason)) {
      run.log.error(`Failed ${why}, and runs again: something about it changed meanwhile`, { error });
      return;
    }
    run.log.error(`Parked ${why}: not retried until something about it changes`, { error });
    this.#reports.parked(run, reason);
  }

  /** Called when a run passes its deadline. */
  #onDeadline(running: ActiveRun): void {
    const { clock, transport } = this.#scope.runtime;
    const { run } = running;
    const timeout = `${this.#timeout} ms`;
    running.cancelledAt = clock.now();
    this.#metrics.timeout();
    this.#metrics.stuck(this.stuck.length);
    run.close(`the run took longer than ${timeout}`);
    transport.abortRefused();
    run.log.error("The run took too long: its writes are refused, and its key stays locked until it settles", {
      timeout,
    });
  }

  #logRun(run: KeyRun, times: { readonly seconds: number; readonly again?: number }): void {
    const { log, runtime } = this.#scope;
    const level = runtime.logsRuns === true ? "info" : "debug";
    if (log.enabled(level)) run.log[level]("Reconciled", { because: becauseOf(run), ...times });
  }

  get #isFree(): boolean {
    return (
      this.#open && this.#busy < this.#concurrency && (this.#budget === undefined || this.#busy < this.#budget.room)
    );
  }

  /** The number of active runs, including those of the previous version. */
  get #busy(): number {
    return this.#before === undefined ? this.#running.size : this.#running.size + this.#before.#busy;
  }

  /** Whether new runs may start. */
  set open(open: boolean) {
    this.#open = open;
    if (open) this.wake();
  }

  /**
   * The limit on a controller that is slowed or suspended because its runs fail; `undefined` when it is not limited.
   */
  get budget(): BudgetState | undefined {
    return this.#budget?.state;
  }

  /** Lifts the limits that failing runs have caused. */
  resume(): void {
    this.#budget?.resume();
  }

  /**
   * Queues a key after its active run has succeeded. A run that fails is retried anyway: its own writes neither shorten
   * its back-off nor prevent parking.
   *
   * @returns `false` when the key has no active run.
   */
  addAfterRun(key: string, options: AddOptions): boolean {
    const running = this.#running.get(key);
    if (running === undefined) return this.#before?.addAfterRun(key, options) === true;
    (running.deferred ??= []).push(options);
    return true;
  }

  /** Cancelled runs that have not ended. */
  get stuck(): readonly { readonly key: string; readonly since: number }[] {
    const stuck: { key: string; since: number }[] = [];
    for (const { run, cancelledAt } of this.#running.values()) {
      if (cancelledAt !== undefined) stuck.push({ key: run.item.key, since: cancelledAt });
    }
    return stuck;
  }

  /** Returns the keys of these runs. */
  running(isMeant: Meant): readonly string[] {
    return [...this.#running.values()].flatMap(({ run }) => (isMeant(run) ? [run.item.key] : []));
  }

  /** Resolves when all of these runs have ended, including those of the previous version. */
  async drained(isMeant: Meant = ALL): Promise<void> {
    await this.#before?.drained(isMeant);
    while (this.#running.values().some(({ run }) => isMeant(run))) {
      await (this.#ended ??= Promise.withResolvers()).promise;
    }
  }

  /** Fires the signals of these runs, which may still finish. */
  leave(reason: string, isMeant: Meant = ALL): void {
    for (const { run } of this.#running.values()) if (isMeant(run)) run.leave(reason);
  }

  /** Fires the signals of these runs, refuses their writes, and aborts the requests that are under way. */
  cancel(reason: string, isMeant: Meant = ALL): void {
    const now = this.#scope.runtime.clock.now();
    for (const running of this.#running.values()) {
      if (!isMeant(running.run)) continue;
      running.cancelledAt ??= now;
      running.cancelled = true;
      running.run.close(reason);
    }
    this.#scope.runtime.transport.abortRefused();
    this.#metrics.stuck(this.stuck.length);
  }

  /**
   * Begins no more runs; other workers continue with the queue. Until the active runs end, each of them occupies one
   * of their places.
   */
  handOver(next: Workers): void {
    this.#open = false;
    this.#next = next;
    // The failures of the previous version say nothing about the new code.
    if (this.#budget?.isLimiting === true) this.#queue.expedite();
    if (this.#busy > 0) next.#before = this;
  }

  /** Abandons the runs: they can no longer write, and the next version gets their keys. */
  abandon(): void {
    for (const [key, running] of this.#running) {
      this.#running.delete(key);
      running.abandoned = true;
      if (running.run.record !== undefined) endRecord(running.run, ABANDONED, this.#queue);
      running.unmark();
      this.#again(running.item);
      this.#queue.done(key);
    }
    this.#metrics.stuck(0);
    this.#someEnded();
  }

  /**
   * Called when runs of these workers have ended: resolves the waiting promises, and gives their places to the next
   * version.
   */
  #someEnded(): void {
    this.#ended?.resolve();
    this.#ended = undefined;
    if (this.#next !== undefined) this.#next.#beforeEnded();
  }

  /** Called by the workers of the previous version when runs of theirs have ended. */
  #beforeEnded(): void {
    if (this.#before !== undefined && this.#before.#busy === 0) this.#before = undefined;
    if (this.#isFree) this.#scope.runtime.turns.afterRun(this);
    if (this.#next !== undefined) this.#next.#beforeEnded();
  }

  /** Ends the waits of the workers, and removes their metrics. */
  [Symbol.dispose](): void {
    this.#budget?.[Symbol.dispose]();
    this.#metrics[Symbol.dispose]();
  }
}

type Meant = (run: KeyRun) => boolean;
const ALL: Meant = () => true;

const ABANDONED: Outcome = Object.freeze({ kind: "cancelled", error: undefined });
const REQUEUED = Object.freeze({ source: "requeueAfter", type: "generic" });
const RETRIED = Object.freeze({ source: "retry", type: "generic" });

/** A run that has begun and has not ended, with the workers' records about it. Only the workers change it. */
class ActiveRun {
  readonly item: QueueItem;
  readonly run: KeyRun;
  /** The time at which its signal fired; `undefined` before. */
  cancelledAt: number | undefined;
  /** Whether it was cancelled for a reason other than its own deadline. */
  cancelled = false;
  /** The additions of its key that wait until it ends. */
  deferred: AddOptions[] | undefined;
  /** Whether its key has been passed to another run. */
  abandoned = false;
  /** Its slot among the marks of the event loop; 0 without one. */
  #mark = 0;

  /** @param about the names of its module and controller, which reports name when the run blocks the event loop. */
  constructor(item: QueueItem, run: KeyRun, about: object) {
    this.item = item;
    this.run = run;
    if (loopMarks.isWatched) this.#mark = loopMarks.take(markText({ ...about, key: item.key }));
  }

  /** Begins the run. Until it waits for the first time, it has the event loop to itself. */
  begin(execute: (run: KeyRun) => Promise<void | Result>): Promise<void | Result> {
    loopMarks.enterRun(this.#mark);
    try {
      return execute(this.run);
    } finally {
      loopMarks.leaveRun();
    }
  }

  /** Frees the slot when the run has ended or is abandoned, because a run that never settles must not keep it. */
  unmark(): void {
    loopMarks.release(this.#mark);
    this.#mark = 0;
  }
}
