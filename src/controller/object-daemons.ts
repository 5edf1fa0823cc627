/** Runs the daemons of one name: at most one for each object, for as long as the object has it. */
import type { DaemonMetrics, DaemonReading } from "../observe/daemon-metrics.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import { DaemonRun } from "../reconcile/daemon-run.ts";
import { failureMessage } from "../reconcile/kept-secrets.ts";
import type { ControllerEnvironment } from "../reconcile/run.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { Invoke } from "./controller-scope.ts";
import type { DaemonDeclaration } from "./daemon.ts";
import type { EventMappingHost } from "./event-mapping.ts";
import type { ObjectSource } from "./object-source.ts";
import { type Outcome, outcomeOfError } from "./outcome.ts";
import { within } from "./within.ts";

export interface ObjectDaemonsOptions {
  readonly environment: ControllerEnvironment;
  readonly resource: Resource;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  readonly metrics: DaemonMetrics;
  /** How many milliseconds a daemon gets to end; after that it can no longer write. */
  readonly grace: number;
  /** Whether the object is a member on which this replica works. */
  readonly isOurs: (object: AnyObject) => boolean;
  readonly cached: (key: string) => AnyObject | undefined;
  readonly enqueue: (key: string, cause: Cause) => void;
  readonly invoke: Invoke;
  readonly call: EventMappingHost["call"];
  /** Whether failures are reported in an Event on the object. */
  readonly reportsFailures: boolean;
  /** Resolves when the key's daemon of the previous version has ended; `undefined` when there is none. */
  readonly before: (key: string) => Promise<unknown> | undefined;
}

/** `waiting`: until another one ends; `done`: it has resolved, or must not be started again. */
type Phase = "waiting" | "running" | "backing-off" | "done" | "ending";

/** The daemon of one object. */
interface Entry {
  readonly key: string;
  /** The last known state of the object. */
  object: AnyObject;
  phase: Phase;
  run: DaemonRun | undefined;
  /** Resolves when the author's promise has settled. */
  settled: Promise<void> | undefined;
  /** The timer of the back-off, or of the grace period while it ends. */
  timer: Disposable | undefined;
  failures: number;
  /** The time when the grace period passed and it had not ended; `undefined` otherwise. */
  stuckSince: number | undefined;
}

/** The milliseconds without a failure after which the back-off is reset. */
const WELL_AFTER = 60_000;
/** Milliseconds after which a daemon that has not ended is reported as ignoring its signal. */
const DEAF_AFTER = 1_000;
/** The number of consecutive failures after which an Event reports them, as with runs. */
const TELL_AFTER = 3;

export class ObjectDaemons implements ObjectSource {
  readonly #daemon: DaemonDeclaration;
  readonly #options: ObjectDaemonsOptions;
  readonly #entries = new Map<string, Entry>();
  /** The daemons that wait, in the order in which they begin. */
  readonly #waiting = new Set<Entry>();
  #running = 0;
  #open = false;

  constructor(daemon: DaemonDeclaration, options: ObjectDaemonsOptions) {
    this.#daemon = daemon;
    this.#options = options;
    options.metrics.readFrom(() => this.#reading());
  }

  open(): void {
    this.#open = true;
  }

  look(object: AnyObject, old?: AnyObject): void {
    if (!this.#open) return;
    const key = keyString(object.metadata);
    const entry = this.#entries.get(key);
    if (!this.#isWanted(object)) {
      const isDeleted = object.metadata.deletionTimestamp !== undefined;
      if (entry !== undefined)
        this.#end(entry, isDeleted ? "its object is being deleted" : "its object has it no more");
      return;
    }
    if (entry === undefined) return this.#begin(key, object);
    const isSame = entry.object.metadata.uid === object.metadata.uid;
    entry.object = object;
    // A daemon that is ending checks again when it has ended.
    if (entry.phase === "ending" || (isSame && !this.#isToRestart(object, old))) return;
    this.#end(entry, "it starts anew");
    if (!this.#entries.has(key)) this.#begin(key, object);
  }

  gone(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#end(entry, "its object is gone");
  }

  leave(reason: string, isMeant?: (object: AnyObject) => boolean): void {
    if (isMeant === undefined) this.#open = false;
    for (const entry of this.#entries.values()) if (isMeant?.(entry.object) !== false) this.#end(entry, reason);
  }

  cancel(reason: string): void {
    this.leave(reason);
    for (const entry of this.#entries.values()) this.#cutOff(entry, reason);
  }

  async drained(isMeant: (object: AnyObject) => boolean = () => true): Promise<void> {
    const entries = [...this.#entries.values()].filter(({ object }) => isMeant(object));
    for (const { settled } of entries) await settled;
  }

  /** Resolves when the key's daemon has ended or can no longer write; `undefined` when it has none. */
  ended(key: string): Promise<unknown> | undefined {
    const entry = this.#entries.get(key);
    // A daemon that is stuck can write no more, and has been waited for.
    if (entry?.settled === undefined || entry.stuckSince !== undefined) return undefined;
    this.#end(entry, "its object is being finalized");
    return this.#endedOrDeaf(entry, entry.settled);
  }

  /** Waits for the end of a daemon until the end of the grace period, and says so when it heeds no signal. */
  async #endedOrDeaf({ key }: Entry, settled: Promise<void>): Promise<void> {
    const { grace, clock, log } = this.#options;
    const fields = { daemon: this.#daemon.name, key, grace: grace / 1_000 };
    using _deaf = clock.setTimeout(
      () => log.warn("A daemon heeds no signal: finalize waits for it until the end of the grace period", fields),
      DEAF_AFTER,
    );
    if (await within(grace, { work: settled, clock })) return;
    log.warn("A daemon has not ended: finalize begins beside it, its writes are refused", fields);
  }

  get stuck(): readonly { readonly key: string; readonly since: number }[] {
    const { name } = this.#daemon;
    return [...this.#entries.values()].flatMap(({ key, stuckSince }) =>
      stuckSince === undefined ? [] : [{ key: `${key} (daemon ${name})`, since: stuckSince }],
    );
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#entries.values()) timer?.[Symbol.dispose]();
    this.#options.metrics[Symbol.dispose]();
  }

  #isWanted(object: AnyObject): boolean {
    const { isOurs, call } = this.#options;
    const { when } = this.#daemon;
    if (object.metadata.deletionTimestamp !== undefined || !isOurs(object)) return false;
    return when === undefined || call("when", () => when(object)) === true;
  }

  #isToRestart(object: AnyObject, old: AnyObject | undefined): boolean {
    const { restartOn } = this.#daemon;
    if (restartOn === undefined || old === undefined || old === object) return false;
    return this.#options.call("restartOn", () => restartOn({ type: "update", object, old })) === true;
  }

  #begin(key: string, object: AnyObject): void {
    const entry: Entry = {
      key,
      object,
      phase: "waiting",
      run: undefined,
      settled: undefined,
      timer: undefined,
      failures: 0,
      stuckSince: undefined,
    };
    this.#entries.set(key, entry);
    this.#startOrWait(entry);
  }

  #startOrWait(entry: Entry): void {
    if (this.#running < this.#daemon.concurrency) return this.#start(entry);
    if (this.#waiting.size === 0) {
      const { name, concurrency } = this.#daemon;
      const fields = { daemon: name, concurrency, key: entry.key };
      this.#options.log.warn("As many daemons run as may: others wait until one ends; raise its 'concurrency'", fields);
    }
    entry.phase = "waiting";
    this.#waiting.add(entry);
  }

  #start(entry: Entry): void {
    const { environment, resource, cached, enqueue } = this.#options;
    const { key, failures } = entry;
    const { name: daemon, value: schema } = this.#daemon;
    const object = cached(key) ?? entry.object;
    entry.object = object;
    entry.phase = "running";
    this.#running++;
    const run = new DaemonRun(environment, {
      daemon,
      key,
      attempt: failures + 1,
      object,
      resource,
      cached: () => cached(key),
      schema,
      enqueue: (reason, value) => {
        const source = reason === undefined ? `daemon ${daemon}` : `daemon ${daemon}: ${reason}`;
        enqueue(key, { source, type: "generic", daemon, value });
      },
    });
    entry.run = run;
    entry.settled = this.#work(entry, run);
  }

  /** Runs the daemon. The promise never rejects. */
  async #work(entry: Entry, run: DaemonRun): Promise<void> {
    const { clock, invoke } = this.#options;
    const { signal } = run;
    const { object } = entry;
    using _well = clock.setTimeout(() => (entry.failures = 0), WELL_AFTER);
    let failure: { readonly error: unknown } | undefined;
    try {
      // An object never has two at once, and an author's code is not called during a delivery.
      await this.#options.before(entry.key);
      if (!signal.aborted) await invoke(() => this.#daemon.run(object, run));
    } catch (error) {
      failure = { error };
    }
    this.#running--;
    if (entry.phase === "ending") this.#ended(entry);
    else if (failure === undefined) entry.phase = "done";
    else this.#failed(entry, { run, error: failure.error });
    if (failure === undefined) run.finish("the daemon has ended");
    else run.close("the daemon has ended");
    entry.run = undefined;
    entry.settled = undefined;
    this.#fill();
  }

  #ended(entry: Entry): void {
    entry.timer?.[Symbol.dispose]();
    this.#entries.delete(entry.key);
    const latest = this.#options.cached(entry.key);
    if (latest !== undefined) this.look(latest); // the object may have returned, or be another one with the same name
  }

  #failed(entry: Entry, { run, error: thrown }: { readonly run: DaemonRun; readonly error: unknown }): void {
    const { clock, metrics, reportsFailures } = this.#options;
    metrics.failed();
    const outcome = outcomeOfError(thrown, false);
    const error = "error" in outcome ? outcome.error : thrown;
    if (outcome.kind === "park") {
      entry.phase = "done";
      run.log.error("A daemon failed for good, and is not started again", { error });
      run.events.warning("DaemonFailed", this.#message(run, error));
      return;
    }
    const pause = this.#pause(entry, outcome);
    run.log.error("A daemon failed", { error, again: pause / 1_000 });
    if (entry.failures >= TELL_AFTER && reportsFailures) run.events.warning("DaemonFailed", this.#message(run, error));
    entry.phase = "backing-off";
    entry.timer = clock.setTimeout(() => {
      entry.timer = undefined;
      this.#again(entry);
    }, pause);
  }

  #message(run: DaemonRun, error: unknown): string {
    return `daemon ${this.#daemon.name}: ${failureMessage(run, error)}`;
  }

  /** Returns the milliseconds until the daemon is started again. An unreachable server is no failure of the daemon. */
  #pause(entry: Entry, outcome: Outcome): number {
    const { first, max } = this.#daemon;
    if (outcome.kind === "retry") return outcome.after;
    return outcome.kind === "unreachable" ? first : Math.min(first * 2 ** entry.failures++, max);
  }

  #again(entry: Entry): void {
    const latest = this.#options.cached(entry.key);
    if (latest !== undefined && this.#open && this.#isWanted(latest)) return this.#startOrWait(entry);
    this.#entries.delete(entry.key);
  }

  #end(entry: Entry, reason: string): void {
    if (entry.phase === "ending") return;
    entry.timer?.[Symbol.dispose]();
    entry.timer = undefined;
    this.#waiting.delete(entry);
    if (entry.phase !== "running") return void this.#entries.delete(entry.key);
    const { clock, grace } = this.#options;
    entry.phase = "ending";
    entry.run!.leave(reason);
    entry.timer = clock.setTimeout(() => this.#cutOff(entry, reason), grace);
  }

  /** Prevents it from writing from now on. */
  #cutOff(entry: Entry, reason: string): void {
    if (entry.phase !== "ending" || entry.stuckSince !== undefined) return;
    entry.stuckSince = this.#options.clock.now();
    entry.run?.close(reason);
  }

  #fill(): void {
    for (const entry of this.#waiting) {
      if (this.#running >= this.#daemon.concurrency) return;
      this.#waiting.delete(entry);
      this.#again(entry);
    }
  }

  #reading(): DaemonReading {
    let waiting = 0;
    let backingOff = 0;
    let stuck = 0;
    for (const { phase, stuckSince } of this.#entries.values()) {
      if (phase === "waiting") waiting++;
      else if (phase === "backing-off") backingOff++;
      if (stuckSince !== undefined) stuck++;
    }
    return { running: this.#running - stuck, waiting, backingOff, stuck };
  }
}
