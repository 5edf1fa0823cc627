/** When runs begin: after all that has arrived was dealt with, and never for so long that nothing else has its turn. */

/** Milliseconds of a turn after which everything else that is due comes first. A run that is under way is not cut short. */
const TURN_MS = 5;

/** Those who begin runs. */
export interface RunStarter {
  /** Begins one run, if there is one to begin. @returns whether there may be another one. */
  startRun(): boolean;
}

/** When the runs of all controllers of a process begin. */
export interface Turns {
  /** A key is ready. */
  afterEvents(starter: RunStarter): void;
  /** A worker is free. */
  afterRun(starter: RunStarter): void;
}

export interface RunTurnsOptions {
  /** Milliseconds of a clock that nobody sets. @default performance.now */
  readonly now?: (() => number) | undefined;
}

/**
 * The runs of all controllers of a process take turns with everything else that it does.
 *
 * **Guarantees.** No run begins while events are handed out: whatever was read from the connections has reached all
 * stores, handlers and queues. Controllers begin their runs one by one, each in its turn. After 5 ms, or the one run that
 * takes longer, connections, timers and probes have theirs; what a run goes on with after an answer is not counted.
 */
export class RunTurns implements Turns {
  readonly #now: () => number;
  /** In the order in which they asked. */
  readonly #waiting = new Set<RunStarter>();
  readonly #turn = (): void => {
    this.#since = this.#now();
    this.#beginNext();
  };
  /** The next tick comes when no microtask is left: after all that a run does while it waits for nothing, and its end. */
  readonly #soon = (): void => process.nextTick(this.#goOn);
  readonly #goOn = (): void => {
    if (this.#waiting.size > 0 && this.#now() - this.#since >= TURN_MS) setImmediate(this.#turn);
    else this.#beginNext();
  };
  #since = 0;
  /** A turn is under way, or about to begin. */
  #isDue = false;

  constructor(options: RunTurnsOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
  }

  /** A key is ready: its run begins when everything that has arrived, on whatever connection, was dealt with. */
  afterEvents(starter: RunStarter): void {
    this.#waiting.add(starter);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#turn);
  }

  /**
   * A worker is free: its next run begins when the runs that go on with the same answers have done so, and what all of
   * them send leaves together.
   */
  afterRun(starter: RunStarter): void {
    this.#waiting.add(starter);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#since = this.#now();
    queueMicrotask(this.#soon);
  }

  #beginNext(): void {
    const [starter] = this.#waiting;
    if (starter === undefined) {
      this.#isDue = false;
      return;
    }
    queueMicrotask(this.#soon); // first, so that whoever throws keeps nobody else from beginning
    this.#waiting.delete(starter);
    if (starter.startRun()) this.#waiting.add(starter);
  }
}

/** So many runs, and everything else that is due has its turn. */
const RUNS_AT_ONCE = 200;

/**
 * Begins a run as soon as its key is ready, also in the middle of what has arrived: a controller then sees more of the states
 * that its objects go through. The controllers of Kubernetes, which the embedded cluster follows, see nearly all of them.
 */
export class ImmediateTurns implements Turns {
  readonly #waiting = new Set<RunStarter>();
  #begun = 0;
  #isResting = false;

  afterEvents(starter: RunStarter): void {
    if (this.#isResting) {
      this.#waiting.add(starter);
      return;
    }
    while (starter.startRun()) if (++this.#begun >= RUNS_AT_ONCE) return this.#rest(starter);
  }

  afterRun(starter: RunStarter): void {
    if (++this.#begun >= RUNS_AT_ONCE) this.#rest(starter);
    else this.afterEvents(starter);
  }

  #rest(starter: RunStarter): void {
    this.#waiting.add(starter);
    if (this.#isResting) return;
    this.#isResting = true;
    setImmediate(() => {
      this.#isResting = false;
      this.#begun = 0;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const one of waiting) this.afterEvents(one);
    });
  }
}
