/**
 * Counts what an expression costs while it runs, in kube-apiserver's units. @see
 * https://kubernetes.io/docs/reference/using-api/cel/#runtime-cost-budget
 */

/** The highest cost of one expression; it is ended when it costs more. */
const mostOfOne = 1_000_000;

/** The highest cost of all rules on one object, or of all expressions of one policy. */
export const budgetOfRules = 10_000_000;
/** The highest cost of all match conditions of one webhook or policy. */
export const budgetOfConditions = 2_500_000;

export const outOfBudget = "failed due to running out of cost budget, no further validation rules will be run";

/** What the expression that runs has cost so far; expressions run synchronously, one within another at most. */
let spent = 0;
/** What it may cost; nothing is limited outside of {@link measured}. */
let limit = Infinity;

class LimitExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** Adds to the cost of the expression that runs. @throws LimitExceeded when that is too much, now and ever after */
export function charge(units: number): void {
  spent += units;
  if (spent > limit) throw new LimitExceeded();
}

/** Returns what the expression that runs has cost so far. */
export function spentSoFar(): number {
  return spent;
}

/** The result of an expression and what it cost. */
export interface Outcome {
  readonly cost: number;
  readonly value: unknown;
  /** Why the expression has no value; `undefined` when it has one. */
  readonly error: unknown;
  /** Whether it was ended because of its cost. */
  readonly isCancelled: boolean;
}

/**
 * Runs an expression. An expression may run another one, whose cost is its own.
 *
 * @param start what it costs in any case
 */
export function measured(start: number, run: () => unknown): Outcome {
  const [outerSpent, outerLimit] = [spent, limit];
  spent = start;
  limit = mostOfOne;
  let value: unknown;
  let error: unknown;
  try {
    value = run();
  } catch (problem) {
    error = problem;
  }
  const cost = spent;
  spent = outerSpent;
  limit = outerLimit;
  // Operators such as `||` may have swallowed the error.
  const isCancelled = cost > mostOfOne;
  return { cost, value, error: isCancelled ? new LimitExceeded() : error, isCancelled };
}

/** What a number of expressions may cost together. */
export class Budget {
  #left: number;

  constructor(units: number) {
    this.#left = units;
  }

  /** What is left; -1 once something did not fit. */
  get left(): number {
    return this.#left;
  }

  /** Takes a cost from the budget. @returns whether it fits; nothing fits any more when it does not */
  pay(cost: number): boolean {
    this.#left = cost > this.#left ? -1 : this.#left - cost;
    return this.#left >= 0;
  }

  /** Lets nothing fit any more. */
  end(): void {
    this.#left = -1;
  }
}
