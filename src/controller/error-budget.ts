/**
 * Slows and suspends a controller whose runs all fail, so that a mistake in one module costs other modules and the
 * server little.
 */
import { isApiError, isUnreachable } from "../kube/errors/api-error.ts";
import { type Clock, monotonic } from "../platform/clock.ts";
import { HookFailed, type Outcome } from "./outcome.ts";

/** How many more failing runs a controller may begin. */
export type BudgetState =
  | { readonly kind: "unlimited" }
  /** One run at a time begins, with a pause after each. */
  | { readonly kind: "slowed"; readonly message: string }
  /** A run begins only now and then, as a trial. */
  | { readonly kind: "suspended"; readonly message: string };

/** A run that has ended. */
export interface EndedRun {
  readonly key: string;
  readonly outcome: Outcome;
  /** Returns the part of a failed run's error that may be shown. */
  readonly message: (error: unknown) => string;
}

export interface ErrorBudgetOptions {
  readonly clock: Clock;
  /** How many keys the controller has; `undefined` when that is not known. */
  readonly keys: () => number | undefined;
  /** Called when a pause is over. */
  readonly onReady: () => void;
  /** Called after the state has changed. */
  readonly onChange: (state: BudgetState) => void;
  /** Called when keys need no longer wait for their back-off. */
  readonly onRecovery: () => void;
}

/** The milliseconds over which failures are counted, while nothing is slowed. */
const WINDOW_MS = 300_000;
/** The least number of failed runs, because a few failures prove nothing. */
const LEAST_FAILURES = 10;
/**
 * The least number of failing keys, unless the controller has fewer: a single object that cannot be reconciled proves
 * nothing about others.
 */
const LEAST_KEYS = 5;
/**
 * The least share of failing keys among all keys: a few bad objects must not slow the many good ones that seldom run.
 */
const LEAST_PART = 0.5;
/** The least share of failing keys among those that ran within the window. */
const FAILING_PART = 0.9;
const SLOWED_PAUSE_MS = 1_000;
/** A slowed controller is suspended after this many milliseconds without a successful run. */
const SUSPEND_AFTER_MS = 60_000;
/** The pauses between the runs of a suspended controller: doubled from the first to the longest. */
const FIRST_TRIAL_MS = 10_000;
const LONGEST_TRIAL_MS = 60_000;

const UNLIMITED: BudgetState = Object.freeze({ kind: "unlimited" });

/**
 * Counts the runs of one controller that fail.
 *
 * **Guarantees.** While no run fails, nothing is counted and nothing is kept. Only errors of the author's code count;
 * unreachable servers, refused requests, failing hooks, and errors that ask for a retry or for parking do not. The
 * budget is used up when nine in ten of the keys that ran within five minutes fail, and these are half of all keys. One
 * failing key among healthy ones never uses it up.
 */
export class ErrorBudget implements Disposable {
  readonly #options: ErrorBudgetOptions;
  readonly #clock: Clock;
  /** The keys whose last run has failed, since the window began. */
  readonly #failing = new Set<string>();
  /** The keys whose last run has succeeded: since the window began; once slowed, since the last failure. */
  readonly #succeeding = new Set<string>();
  #state: BudgetState = UNLIMITED;
  #failures = 0;
  /** When the window began; once slowed, when that was, or when the last run succeeded after it. */
  #since = 0;
  #trialPause = FIRST_TRIAL_MS;
  #pause: Disposable | undefined;

  constructor(options: ErrorBudgetOptions) {
    this.#options = options;
    this.#clock = monotonic(options.clock);
  }

  get state(): BudgetState {
    return this.#state;
  }

  get isLimiting(): boolean {
    return this.#state !== UNLIMITED;
  }

  /** The number of runs that may be under way at the same time. */
  get room(): number {
    if (!this.isLimiting) return Infinity;
    return this.#pause === undefined ? 1 : 0;
  }

  ended(run: EndedRun): void {
    const { outcome } = run;
    if (outcome.kind === "done" || outcome.kind === "requeue") this.#succeeded(run.key);
    else if (outcome.kind === "fail" && !isOfOthers(outcome.error)) this.#failed(run, outcome.error);
    if (this.isLimiting) this.#rest();
  }

  /** Forgets the failures and lifts every limit. */
  resume(): void {
    if (this.isLimiting) this.#recover();
  }

  [Symbol.dispose](): void {
    this.#pause?.[Symbol.dispose]();
    this.#pause = undefined;
  }

  #succeeded(key: string): void {
    if (this.#failures === 0) return;
    if (this.#isOutdated) return this.#clear(); // else every key that succeeds from now on would be kept
    this.#failing.delete(key);
    this.#succeeding.add(key);
    if (!this.isLimiting) return;
    this.#since = this.#clock.now();
    if (this.#succeeding.size >= this.#fewKeys) return this.#recover();
    if (this.#state.kind === "slowed") return;
    this.#trialPause = FIRST_TRIAL_MS;
    this.#enter({ kind: "slowed", message: "a run has succeeded again: one run begins each second until more do" });
    this.#options.onRecovery();
  }

  #failed({ key, message }: EndedRun, error: unknown): void {
    const now = this.#clock.now();
    if (this.#isOutdated) this.#clear();
    if (this.#failures === 0) this.#since = now;
    this.#failures++;
    this.#failing.add(key);
    if (!this.isLimiting) {
      this.#succeeding.delete(key);
      if (!this.#isUsedUp) return;
      const failing = this.#failing.size;
      const why = `${failing} of the ${failing + this.#succeeding.size} keys that ran fail, ${key} with: ${message(error)}`;
      this.#since = now;
      this.#succeeding.clear();
      this.#enter({ kind: "slowed", message: `${why}; one run begins each second until runs succeed` });
      return;
    }
    this.#succeeding.clear();
    if (this.#state.kind === "suspended") {
      this.#trialPause = Math.min(2 * this.#trialPause, LONGEST_TRIAL_MS);
    } else if (now - this.#since >= SUSPEND_AFTER_MS) {
      const why = `no run has succeeded for ${SUSPEND_AFTER_MS / 1_000} s, ${key} failed with: ${message(error)}`;
      this.#enter({
        kind: "suspended",
        message: `${why}; about one run a minute tries again. A new version of the module, or SIGUSR2, resumes it at once`,
      });
    }
  }

  /** Whether the window is over, and nothing is limited. */
  get #isOutdated(): boolean {
    return !this.isLimiting && this.#clock.now() - this.#since >= WINDOW_MS;
  }

  get #isUsedUp(): boolean {
    const failing = this.#failing.size;
    return (
      this.#failures >= LEAST_FAILURES &&
      failing >= Math.max(this.#fewKeys, LEAST_PART * (this.#options.keys() ?? 0)) &&
      failing >= FAILING_PART * (failing + this.#succeeding.size)
    );
  }

  /** The number of keys that prove something about the controller; all keys, if there are few. */
  get #fewKeys(): number {
    return Math.max(1, Math.min(LEAST_KEYS, this.#options.keys() ?? LEAST_KEYS));
  }

  /** Waits before the next run may begin. */
  #rest(): void {
    const ms = this.#state.kind === "slowed" ? SLOWED_PAUSE_MS : this.#trialPause;
    this.#pause?.[Symbol.dispose]();
    this.#pause = this.#clock.setTimeout(() => {
      this.#pause = undefined;
      this.#options.onReady();
    }, ms);
  }

  #recover(): void {
    this.#clear();
    this.#trialPause = FIRST_TRIAL_MS;
    this[Symbol.dispose]();
    this.#enter(UNLIMITED);
    this.#options.onRecovery();
    this.#options.onReady();
  }

  #clear(): void {
    this.#failures = 0;
    this.#failing.clear();
    this.#succeeding.clear();
  }

  #enter(state: BudgetState): void {
    this.#state = state;
    this.#options.onChange(state);
  }
}

/**
 * Whether an error, or one of its causes, comes from the API server (a response, or the lack of one) or from a plugin.
 */
function isOfOthers(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MOST_CAUSES) return false;
  if (isApiError(error) || isUnreachable(error) || error instanceof HookFailed) return true;
  if ("errors" in error && Array.isArray(error.errors) && error.errors.length > 0)
    return error.errors.every((one) => isOfOthers(one, depth + 1));
  return isOfOthers(error.cause, depth + 1);
}

/** The most causes that are followed, because an error may be its own cause. */
const MOST_CAUSES = 8;
