/** Measures a process once a second, and remembers the last minutes. */
import type { RunningController } from "../../controller/controller.ts";
import type { Clock } from "../../platform/clock.ts";
import type { OverviewAnswer } from "../../server/debug/answers.ts";
import { countKeys, noKeys } from "./key-answers.ts";

/** A run that has ended. */
export interface EndedRun {
  readonly controller: string;
  readonly failed: boolean;
  /** Milliseconds that it took. */
  readonly duration: number;
}

export interface OverviewOptions {
  readonly clock: Clock;
  readonly controllers: () => readonly RunningController[];
  /** The number of answers of the API server so far. */
  readonly answers: () => number;
  /** Bytes that the process uses. */
  readonly memory: () => number;
}

const PERIOD = 1_000;
/** The seconds that are remembered. */
const MOST_SAMPLES = 300;
/** The most runs of one second whose durations are compared; further ones are only counted. */
const MOST_DURATIONS = 10_000;

export class OverviewSamples implements Disposable {
  readonly #options: OverviewOptions;
  readonly #listeners = new Set<(overview: OverviewAnswer) => void>();
  readonly #samples: OverviewAnswer[] = [];
  readonly #durations: number[] = [];
  readonly #byController = new Map<string, { runs: number; errors: number }>();
  #answers: number;
  #timer: Disposable;

  constructor(options: OverviewOptions) {
    this.#options = options;
    this.#answers = options.answers();
    this.#timer = this.#later();
  }

  /** The last minutes, the oldest second first. */
  get samples(): readonly OverviewAnswer[] {
    return this.#samples;
  }

  /** Counts a run. */
  ended({ controller, failed, duration }: EndedRun): void {
    let counts = this.#byController.get(controller);
    if (counts === undefined) this.#byController.set(controller, (counts = { runs: 0, errors: 0 }));
    counts.runs++;
    if (failed) counts.errors++;
    if (this.#durations.length < MOST_DURATIONS) this.#durations.push(duration);
  }

  /** Calls a function with each second that ends. */
  onSample(listener: (overview: OverviewAnswer) => void): Disposable {
    const own = (overview: OverviewAnswer): void => listener(overview);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
    this.#listeners.clear();
  }

  #later(): Disposable {
    return this.#options.clock.setTimeout(() => {
      this.#timer = this.#later();
      this.#sample();
    }, PERIOD);
  }

  #sample(): void {
    const { clock, controllers, answers, memory } = this.#options;
    const keys = noKeys();
    for (const controller of controllers()) countKeys(controller, keys);
    const durations = this.#durations.sort((a, b) => a - b);
    const counts = [...this.#byController.values()];
    const answered = answers();
    const overview: OverviewAnswer = {
      at: new Date(clock.now()).toISOString(),
      runs: counts.reduce((sum, { runs }) => sum + runs, 0),
      errors: counts.reduce((sum, { errors }) => sum + errors, 0),
      p50: percentile(durations, 0.5),
      p99: percentile(durations, 0.99),
      keys,
      requests: answered - this.#answers,
      memory: memory(),
      controllers: Object.fromEntries(this.#byController),
    };
    this.#answers = answered;
    this.#durations.length = 0;
    this.#byController.clear();
    this.#samples.push(overview);
    if (this.#samples.length > MOST_SAMPLES) this.#samples.shift();
    for (const listener of this.#listeners) listener(overview);
  }
}

/** @param sorted the values in ascending order. */
function percentile(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
