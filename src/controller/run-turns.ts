/** Decides when runs begin: after all arrived events were processed, and in turns that leave time for other work. */

/** The length of a turn in milliseconds, after which other due work comes first. An active run is not interrupted. */
const TURN_MS = 5;

/**
 * A turn of this length is followed by a rest of an eighth of it, and at most {@link LONGEST_REST_MS}. One round of the
 * event loop is not enough: its request is answered only after the next run, so renewing a Lease (a timer, a request
 * and a response) would take three such turns. A process with a fraction of a processor has long turns.
 */
const LONG_TURN_MS = 50;
const REST_PART = 8;
const LONGEST_REST_MS = 50;

/**
 * The most milliseconds for which a request, or several in succession, keeps runs from beginning: an API server that
 * answers slowly, or not at all, must not stop the controllers. Each millisecond in which runs may begin restores one.
 */
const MOST_HELD_MS = 500;

/** Begins runs: the workers of a controller. */
export interface RunStarter {
  /** Begins a run if a key is ready and a worker is free. @returns whether another one may begin. */
  startRun(): boolean;
}

/** Schedules the starts of runs for all controllers of a process. */
export interface Turns {
  /** Called when a key is ready. */
  afterEvents(starter: RunStarter): void;
  /** Called when a worker is free. */
  afterRun(starter: RunStarter): void;
}

export interface RunTurnsOptions {
  /** A monotonic clock in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined;
}

/**
 * Lets the runs of all controllers of a process take turns with its other work.
 *
 * **Guarantees.** No run begins while events are delivered: everything that was read from the connections has reached
 * all stores, handlers and queues. Controllers begin their runs one by one, in turn. After 5 ms, or one run that takes
 * longer, connections, timers and probes come first; after 50 ms they have an eighth of that time for themselves. The
 * time that a run spends after a response arrives is not counted.
 */
export class RunTurns implements Turns {
  readonly #now: () => number;
  /** The starters in the order of their requests. */
  readonly #waiting = new Set<RunStarter>();
  readonly #turn = (): void => {
    this.#since = this.#now();
    this.#beginNext();
  };
  /**
   * The next tick comes when no microtask is left: after the synchronous part of a run and the microtasks that follow
   * its end.
   */
  readonly #soon = (): void => process.nextTick(this.#goOn);
  readonly #goOn = (): void => {
    const took = this.#now() - this.#since;
    if (this.#waiting.size === 0 || took < TURN_MS) this.#beginNext();
    else if (took < LONG_TURN_MS) setImmediate(this.#turn);
    else setTimeout(this.#afterRest, Math.min(took / REST_PART, LONGEST_REST_MS));
  };
  /** Events that have arrived by the end of a rest are processed first. */
  readonly #afterRest = (): void => void setImmediate(this.#turn);
  #since = 0;
  /** Whether a turn is active or scheduled. */
  #isDue = false;
  /** The number of requests under way for which runs wait. */
  #ahead = 0;
  /** Ends the wait of a turn for them. */
  #wait: ReturnType<typeof setTimeout> | undefined;
  /** When the last wait began or ended. */
  #heldAt = -Infinity;
  /** How long a turn could wait at that time. */
  #mayHold = 0;

  constructor(options: RunTurnsOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
  }

  /** Called when a key is ready. Its run begins once all events that have arrived on all connections are processed. */
  afterEvents(starter: RunStarter): void {
    this.#waiting.add(starter);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#turn);
  }

  /**
   * Called when a worker is free. Its next run begins after the other runs that continue with the same batch of
   * responses, so that all their requests are sent together.
   */
  afterRun(starter: RunStarter): void {
    this.#waiting.add(starter);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#since = this.#now();
    queueMicrotask(this.#soon);
  }

  /**
   * Begins no more runs until the request is answered, for half a second at most. Otherwise a response that takes some
   * milliseconds would be read only after a run that began meanwhile, which may be too late for a Lease. A process with
   * many Leases always has a request under way when the server is slow: its runs then wait half of the time.
   */
  giveWay(request: Promise<unknown>): void {
    this.#ahead++;
    let isOver = false;
    const goOn = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (--this.#ahead === 0) this.#release();
    };
    const timer = setTimeout(goOn, MOST_HELD_MS);
    request.then(goOn, goOn);
  }

  /**
   * Makes the turn wait for the requests that go first, unless turns have waited long enough. @returns whether it does.
   */
  #hold(): boolean {
    const now = this.#now();
    const mayHold = Math.min(MOST_HELD_MS, this.#mayHold + now - this.#heldAt);
    if (mayHold < TURN_MS) return false;
    this.#mayHold = mayHold;
    this.#heldAt = now;
    this.#wait = setTimeout(() => this.#release(), mayHold);
    return true;
  }

  #release(): void {
    if (this.#wait === undefined) return;
    clearTimeout(this.#wait);
    this.#wait = undefined;
    const now = this.#now();
    this.#mayHold = Math.max(0, this.#mayHold - (now - this.#heldAt));
    this.#heldAt = now;
    setImmediate(this.#turn);
  }

  #beginNext(): void {
    const [starter] = this.#waiting;
    if (starter === undefined) {
      this.#isDue = false;
      return;
    }
    if (this.#ahead > 0 && this.#hold()) return;
    queueMicrotask(this.#soon); // scheduled first, so that an error of one controller does not keep others from beginning
    this.#waiting.delete(starter);
    if (starter.startRun()) this.#waiting.add(starter);
  }
}

/** The number of runs that begin before other due work has its turn. */
const RUNS_AT_ONCE = 200;

/** Begins a run as soon as its key is ready, even while events are delivered */
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
