/** The runnables of one module's plugins: started together, ended together, and started again when they fail. */
import type { Leadership } from "../client/leadership.ts";
import { abortable } from "../platform/abortable.ts";
import type { Log } from "../observe/log.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import { exponential } from "../queue/rate-limiter.ts";
import { parseDuration } from "../resource/duration.ts";
import type { Runnable, RunnableContext, RunnableOptions } from "./plugin.ts";
import type { PluginSecrets } from "./plugin-secrets.ts";

export interface RunnablesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly invoke: <T>(call: () => T) => T;
  readonly leadership: Leadership;
  /** Called with an error that a runnable threw. */
  readonly onError: (error: unknown, what: string) => void;
}

/** The owner of a runnable, and the secrets that it must not repeat. */
export interface Owner {
  readonly plugin: string;
  readonly secrets: Pick<PluginSecrets, "clean" | "guarded">;
}

interface Entry extends Owner {
  readonly runnable: Runnable;
  readonly leaderOnly: boolean;
  /** Why it failed last, until it has worked for a while. */
  failure: string | undefined;
  /** Whether the runnable's code has been called and has not ended. */
  isActive: boolean;
}

/** Milliseconds before a failed runnable is started again, doubled with each failure in a row. */
const FIRST = 1_000;
const MOST = 300_000;
/** Milliseconds without a failure after which the next failure counts as the first again. */
const WELL_AFTER = 60_000;

export class Runnables {
  readonly #options: RunnablesOptions;
  readonly #entries: Entry[] = [];
  #running: readonly Promise<void>[] = [];

  constructor(options: RunnablesOptions) {
    this.#options = options;
  }

  add(owner: Owner, runnable: Runnable, { leaderOnly = true }: RunnableOptions = {}): void {
    this.#entries.push({ ...owner, runnable, leaderOnly, failure: undefined, isActive: false });
  }

  /** Why one of them is unhealthy; `undefined` while all are healthy. */
  get failure(): string | undefined {
    return this.#entries.find(({ failure }) => failure !== undefined)?.failure;
  }

  /** The runnables that have begun and not ended: `a runnable of plugin x` for each. */
  get open(): readonly string[] {
    return this.#entries.filter(({ isActive }) => isActive).map(({ plugin }) => `a runnable of plugin ${plugin}`);
  }

  /** Starts the runnables. @param warm resolves when the leader's runnables may start; they also wait for the lead. */
  start(signal: AbortSignal, warm: Promise<void>): void {
    this.#running = this.#entries.map((entry) => this.#keepRunning(entry, { signal, warm }));
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Never rejects: an error of a runnable is reported, and not passed on. */
  async #keepRunning(entry: Entry, { signal, warm }: { signal: AbortSignal; warm: Promise<void> }): Promise<void> {
    const { clock, log, invoke, onError } = this.#options;
    const { plugin, secrets, runnable, leaderOnly } = entry;
    const pauses = exponential(FIRST, MOST);
    if (leaderOnly) await abortable(warm, signal).catch(() => {});
    while (!signal.aborted) {
      using term = leaderOnly ? await this.#term(signal) : { signal, [Symbol.dispose]: () => {} };
      if (signal.aborted) return;
      const context: RunnableContext = {
        signal: term.signal,
        log: log.with({ plugin }, secrets.clean),
        now: () => clock.now(),
        sleep: (duration, { signal: until = term.signal } = {}) =>
          sleep(parseDuration(duration, "sleep"), { clock, signal: until }),
      };
      const timer = clock.setTimeout(() => {
        entry.failure = undefined;
        pauses.forget("");
      }, WELL_AFTER);
      entry.isActive = true;
      try {
        await secrets.guarded(() => invoke(() => runnable(context)));
        entry.failure = undefined;
        if (!term.signal.aborted) return; // it has done its work
      } catch (error) {
        if (signal.aborted) return;
        if (term.signal.aborted) continue;
        const pause = pauses.delay("");
        const message = error instanceof Error ? error.message : String(error);
        const failures = pauses.failures("");
        const often = failures === 1 ? "once" : `${failures} times in a row`;
        entry.failure = `a runnable of plugin ${plugin} failed ${often}: ${message}`;
        onError(error, `a runnable of plugin ${plugin}; it starts again in ${pause / 1_000} s`);
        await sleep(pause, { clock, signal }).catch(() => {});
      } finally {
        entry.isActive = false;
        timer[Symbol.dispose]();
      }
    }
  }

  /** Waits for the lead. The signal fires when it is lost, or with the module's. */
  async #term(signal: AbortSignal): Promise<Disposable & { readonly signal: AbortSignal }> {
    const { leadership } = this.#options;
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      over.abort(signal.aborted ? signal.reason : new Error("leadership was lost"));
      resolve();
    };
    const listening = leadership.onChange((isLeader) => (isLeader ? resolve() : end()));
    signal.addEventListener("abort", end, { once: true });
    if (leadership.isLeader) resolve();
    await promise;
    return {
      signal: over.signal,
      [Symbol.dispose]: () => {
        listening[Symbol.dispose]();
        signal.removeEventListener("abort", end);
      },
    };
  }
}
