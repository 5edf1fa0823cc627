/** Runs the sources that are not kinds: intervals, cron expressions, async iterables. */
import { Cron } from "croner";
import { abortable } from "../platform/abortable.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import type { Cause } from "../resource/cause.ts";
import { enqueuedKeys } from "./event-mapping.ts";
import type { Invoke } from "./object-reconciler.ts";
import type { NamedSources } from "./named-sources.ts";
import type { KeySource } from "./source.ts";
import type { Enqueued } from "./watch.ts";

export interface SourceOptions {
  readonly clock: Clock;
  /**
   * When the sources of the controller began, in its first version. Intervals are counted from then, so that a reload
   * shifts none.
   */
  readonly since: number | undefined;
  /** Ends all sources. */
  readonly signal: AbortSignal;
  /** The sources that plugins offer. @default none */
  readonly named: NamedSources | undefined;
  add(key: string, cause: Cause): void;
  /** Why this replica does not work a key; `undefined` when it does. */
  refuses(key: string): string | undefined;
  /** Queues every member of `for`. */
  everything(cause: Cause): void;
  readonly invoke: Invoke;
  onError(error: unknown): void;
}

/** The sources of one controller; they end with the signal. */
export class ControllerSources {
  readonly #sources: readonly KeySource[];
  readonly #options: SourceOptions;
  #hasBegun = false;
  /** When they began, in the first version of the controller. */
  since: number | undefined;

  constructor(sources: readonly KeySource[], options: SourceOptions) {
    this.#sources = sources;
    this.#options = options;
    this.since = options.since;
    for (const source of sources) if (source.source === "named") this.#listen(source.name);
  }

  /** Starts the sources; later calls have no effect. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { clock, signal } = this.#options;
    this.since ??= clock.now();
    for (const source of this.#sources) {
      run(source, this.since, this.#options).catch((error: unknown) => {
        if (!signal.aborted) this.#options.onError(error);
      });
    }
  }

  #listen(name: string): void {
    const options = this.#options;
    const { named, signal } = options;
    const cause = { source: name, type: "generic" };
    const listening = named?.listen(name, {
      refuses: (key) => options.refuses(key),
      add: (key) => options.add(key, cause),
    });
    signal.addEventListener("abort", () => listening?.[Symbol.dispose](), { once: true });
  }
}

async function run(source: KeySource, since: number, options: SourceOptions): Promise<void> {
  const { clock, signal } = options;
  switch (source.source) {
    case "every": {
      const cause = { source: "every", type: "generic" };
      const { interval } = source;
      const passed = (clock.now() - since) % interval;
      // A clock that was set back must not delay what is due within the interval.
      let next = clock.now() + interval - (passed < 0 ? 0 : passed);
      while (!signal.aborted) {
        await untilDue(next, Math.min(next - clock.now(), interval), options);
        options.everything(cause);
        const now = clock.now();
        next = Math.abs(now - next) < interval ? next + interval : now + interval;
      }
      return;
    }
    case "cron": {
      const cron = new Cron(source.expression, { paused: true, timezone: "UTC" });
      const cause = { source: `cron ${source.expression}`, type: "generic" };
      while (!signal.aborted) {
        const next = cron.nextRun(new Date(clock.now()));
        if (next === null) return; // the expression matches no future time
        await untilDue(next.getTime(), next.getTime() - clock.now(), options);
        options.everything(cause);
      }
      return;
    }
    case "named":
      return; // it is listened to before the first term, so that keys which another replica works are refused
    case "from": {
      const iterator = options.invoke(() => source.events[Symbol.asyncIterator]());
      const take = ({ value, done }: IteratorResult<Enqueued>): boolean => {
        if (done === true) return false;
        for (const key of enqueuedKeys([value])) options.add(key, { source: "from", type: "generic" });
        return true;
      };
      const end = (): void =>
        void options.invoke(async () => iterator.return?.()).catch((error: unknown) => options.onError(error));
      signal.addEventListener("abort", end, { once: true });
      try {
        while (!signal.aborted) {
          // What arrives after the signal is queued too, because nobody else receives it. The loop does not wait for it:
          // an iterator that never settles would keep its module in memory forever.
          const taken = options.invoke(async () => iterator.next()).then(take);
          if (!(await abortable(taken, signal))) return;
        }
      } finally {
        signal.removeEventListener("abort", end);
      }
    }
  }
}

/**
 * Waits for a time. One that was due when the signal fired counts as reached, because the next version counts on from the
 * present: the timer of a busy event loop is late.
 *
 * @throws the signal's reason.
 */
async function untilDue(at: number, ms: number, { clock, signal }: SourceOptions): Promise<void> {
  try {
    await sleep(ms, { clock, signal });
  } catch (error) {
    if (at > clock.now()) throw error;
  }
}
