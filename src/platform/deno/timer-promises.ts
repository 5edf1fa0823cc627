/** `node:timers/promises` for modules: their waits end with them. */
import * as timers from "node:timers/promises";

/** The module whose code runs; the signal is aborted when it leaves. */
type Current = () => { readonly signal: AbortSignal } | undefined;

interface Waiting {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns a promise that does not settle any more once the module has left: otherwise code that retries each failure
 * would fail at once again and again, and keep the process busy.
 */
export function whileLoaded<T>(leaving: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const unlessGone =
      <Value>(settle: (value: Value) => void) =>
      (value: Value): void => {
        if (!leaving.aborted) settle(value);
      };
    promise.then(unlessGone(resolve), unlessGone(reject));
  });
}

/** Returns a signal that is aborted with `asked`, and when the module leaves. */
export function orLeaving(signal: AbortSignal | null | undefined, leaving: AbortSignal): AbortSignal {
  return signal ? AbortSignal.any([signal, leaving]) : leaving;
}

interface TimerPromises {
  readonly scheduler: {
    readonly wait: (ms: number, options?: Waiting) => Promise<unknown>;
    readonly yield: () => Promise<unknown>;
  };
  readonly setImmediate: (value?: unknown, options?: Waiting) => Promise<unknown>;
  readonly setInterval: (ms?: number, value?: unknown, options?: Waiting) => AsyncIterableIterator<unknown>;
  readonly setTimeout: (ms?: number, value?: unknown, options?: Waiting) => Promise<unknown>;
}

/** Returns the functions of `node:timers/promises` as modules import them. */
export function followedTimerPromises(current: Current): TimerPromises {
  const following =
    <Rest extends readonly unknown[], T>(
      start: (options: Waiting | undefined, ...rest: Rest) => Promise<T>,
    ): ((options: Waiting | undefined, ...rest: Rest) => Promise<T>) =>
    (options, ...rest) => {
      const module = current();
      if (module === undefined) return start(options, ...rest);
      const { signal: leaving } = module;
      return whileLoaded(leaving, start({ ...options, signal: orLeaving(options?.signal, leaving) }, ...rest));
    };
  const timeout = following((options, ms?: number, value?: unknown) => timers.setTimeout(ms, value, options));
  const immediate = following((options, value?: unknown) => timers.setImmediate(value, options));
  const setTimeout: TimerPromises["setTimeout"] = (ms, value, options) => timeout(options, ms, value);
  const setImmediate: TimerPromises["setImmediate"] = (value, options) => immediate(options, value);
  const setInterval: TimerPromises["setInterval"] = (ms, value, options) => {
    const module = current();
    if (module === undefined) return timers.setInterval(ms, value, options) as AsyncIterableIterator<unknown>;
    const { signal: leaving } = module;
    const signal = orLeaving(options?.signal, leaving);
    const ticks = timers.setInterval(ms, value, { ...options, signal })[Symbol.asyncIterator]();
    return {
      next: () => whileLoaded(leaving, ticks.next()),
      return: () => ticks.return!(),
      throw: (error: unknown) => ticks.throw!(error),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };
  const scheduler = {
    wait: (ms: number, options?: Waiting) => setTimeout(ms, undefined, options),
    yield: () => setImmediate(),
  };
  return { scheduler, setImmediate, setInterval, setTimeout };
}
