/** Stops the parts of a process one after the other, in bounded time, and reports what it waits for. */
import { within } from "../controller/within.ts";
import type { ModuleRegistry } from "../module/module-registry.ts";
import type { Log } from "../observe/log.ts";
import { type Clock, monotonic } from "../platform/clock.ts";

export interface StopStep {
  /** The name of the part. */
  readonly what: string;
  /** The reason why it is stopped at this point. */
  readonly why: string;
  /** @param left the milliseconds that it may take. */
  readonly run: (left: number) => unknown;
  /** The milliseconds that it gets even if nothing is left of the grace period. @default 1_000 */
  readonly atLeast?: number | undefined;
  /** Returns the names of the parts that have not ended yet, while the step runs. @default none */
  readonly open?: (() => readonly string[]) | undefined;
  /** Milliseconds of the step before the grace period begins. @default it is a part of the period */
  readonly before?: number | undefined;
}

export interface StopOptions {
  /** The milliseconds that all steps get together. */
  readonly grace: number;
  readonly clock: Clock;
  readonly log: Pick<Log, "debug" | "info" | "warn" | "error">;
}

/** Milliseconds after which the log first names the parts for which the stop waits, and between repetitions. */
const TOLD_AFTER = 2_000;
const TOLD_AGAIN = 10_000;
/** Milliseconds that a step has by default beyond the grace period, to end the work that the period cut off. */
const LAST_MOMENT = 1_000;
const MOST_SHOWN = 10;

/**
 * Runs the steps in their order. A step that fails, or that has not ended when the time is over, is logged, and the
 * next one follows. Never throws.
 */
export async function stopInOrder(
  steps: readonly StopStep[],
  { grace, clock: given, log }: StopOptions,
): Promise<void> {
  const clock = monotonic(given);
  let active: StopStep | undefined;
  let timer: Disposable | undefined;
  const tell = (): void => {
    if (active !== undefined) log.info("Still stopping", about(active));
    timer = clock.setTimeout(tell, TOLD_AGAIN);
  };
  const began = clock.now();
  let before = 0;
  for (const step of steps) {
    before += step.before ?? 0;
    log.debug(`Stopping ${step.what}`, { why: step.why });
    active = step;
    // The user has set the delay before the period, so it is not reported.
    if (step.before !== undefined) {
      timer?.[Symbol.dispose]();
      timer = undefined;
    } else timer ??= clock.setTimeout(tell, TOLD_AFTER);
    try {
      const left = step.before ?? Math.max(0, began + before + grace - clock.now());
      const longest = left + (step.atLeast ?? LAST_MOMENT);
      const work = Promise.resolve(step.run(longest)).then(() => {});
      const isDone = await within(longest, { work, clock });
      if (!isDone) log.warn(`Gave up waiting for the end of ${step.what}: the grace period is over`, about(step));
    } catch (error) {
      log.error(`Cannot stop ${step.what}`, { error });
    }
  }
  timer?.[Symbol.dispose]();
}

function about({ what, open }: StopStep): { readonly waitsFor: string; readonly open?: readonly string[] } {
  const all = open?.() ?? [];
  if (all.length === 0) return { waitsFor: what };
  const part = all.slice(0, MOST_SHOWN);
  return { waitsFor: what, open: part.length < all.length ? [...part, `${all.length - part.length} more`] : part };
}

/** Returns the active runs, and the daemons that have not heeded their signal. */
export function activeRuns({ controllers }: Pick<ModuleRegistry, "controllers">): readonly string[] {
  return controllers.flatMap(({ module, name, queue, stuck }) => {
    const keys = new Set([...queue.active, ...stuck.map(({ key }) => key)]);
    return [...keys].map((key) => `${module}: the run of ${name} ${key}`);
  });
}

/** Returns the names of the modules' parts that have not ended yet; if there are none, the names of the modules. */
export function openParts(modules: Pick<ModuleRegistry, "controllers" | "statuses">): readonly string[] {
  const parts = modules.statuses().flatMap(({ name, open }) => open.map((one) => `${name}: ${one}`));
  const open = [...activeRuns(modules), ...parts];
  return open.length > 0 ? open : modules.statuses().map(({ name }) => name);
}
