/** Runs the sources that are not kinds: intervals, cron expressions, async iterables. */
import { Cron } from "croner";
import { abortable } from "../platform/abortable.ts";
import { sleep } from "../platform/clock.ts";
import type { Cause } from "../resource/cause.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { enqueuedKeys } from "./event-mapping.ts";
import type { KeySource } from "./source.ts";
import type { Enqueued } from "./watch.ts";

export interface SourceHost {
  add(key: string, cause: Cause): void;
  /** Why this replica does not work on a key; `undefined` when it does. */
  refuses(key: string): string | undefined;
  /** Queues every member of `for`. */
  everything(cause: Cause): void;
}

/** The sources of one controller; they end with the signal. */
export class ControllerSources {
  readonly #scope: ControllerScope;
  readonly #host: SourceHost;
  #hasBegun = false;
  /**
   * The time at which they began, in the first version of the controller. Intervals are counted from then, so that a
   * reload shifts none.
   */
  since: number | undefined;

  /** @param since when they began, in the first version of the controller; `undefined` if they have not yet */
  constructor(scope: ControllerScope, host: SourceHost, since: number | undefined) {
    this.#scope = scope;
    this.#host = host;
    this.since = since;
  }

  /**
   * Receives keys of plugins' sources, even before the first term, so that keys on which another replica works are
   * refused.
   */
  listen(): void {
    for (const source of this.#scope.declarations.sources) if (source.source === "named") this.#listen(source.name);
  }

  /** Starts the sources; later calls have no effect. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { declarations, runtime, stopping } = this.#scope;
    this.since ??= runtime.clock.now();
    for (const source of declarations.sources) {
      run(this.#scope, { source, host: this.#host, since: this.since }).catch((error: unknown) => {
        if (!stopping.aborted) failed(this.#scope, error);
      });
    }
  }

  #listen(name: string): void {
    const host = this.#host;
    const { runtime, stopping } = this.#scope;
    const cause = { source: name, type: "generic" };
    const listening = runtime.sources?.listen(name, {
      refuses: (key) => host.refuses(key),
      add: (key) => host.add(key, cause),
    });
    stopping.addEventListener("abort", () => listening?.[Symbol.dispose](), { once: true });
  }
}

function failed({ log }: ControllerScope, error: unknown): void {
  log.error("A source failed", { error });
}

async function run(
  scope: ControllerScope,
  { source, host, since }: { readonly source: KeySource; readonly host: SourceHost; readonly since: number },
): Promise<void> {
  const { invoke, stopping: signal } = scope;
  const { clock } = scope.runtime;
  switch (source.source) {
    case "every": {
      const cause = { source: "every", type: "generic" };
      const { interval } = source;
      const passed = (clock.now() - since) % interval;
      // A clock that was set back must not delay a tick that is due within the interval.
      let next = clock.now() + interval - (passed < 0 ? 0 : passed);
      while (!signal.aborted) {
        await untilDue(next, Math.min(next - clock.now(), interval), scope);
        host.everything(cause);
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
        await untilDue(next.getTime(), next.getTime() - clock.now(), scope);
        host.everything(cause);
      }
      return;
    }
    case "named":
      return; // `listen` has begun already
    case "from": {
      const iterator = invoke(() => source.events[Symbol.asyncIterator]());
      const take = ({ value, done }: IteratorResult<Enqueued>): boolean => {
        if (done === true) return false;
        for (const key of enqueuedKeys([value])) host.add(key, { source: "from", type: "generic" });
        return true;
      };
      const end = (): void =>
        void invoke(async () => iterator.return?.()).catch((error: unknown) => failed(scope, error));
      signal.addEventListener("abort", end, { once: true });
      try {
        while (!signal.aborted) {
          // Keys that arrive after the signal are queued too, because nobody else receives them. The loop does not wait
          // for them: an iterator that never settles would keep its module in memory forever.
          const step = invoke(async () => iterator.next()).then(take);
          if (!(await abortable(step, signal))) return;
        }
      } finally {
        signal.removeEventListener("abort", end);
      }
    }
  }
}

/**
 * Waits for a time. A time that was due when the signal fired counts as reached although the timer of a busy event loop
 * is late, because the next version continues from the present.
 *
 * @throws the signal's reason.
 */
async function untilDue(at: number, ms: number, { runtime, stopping: signal }: ControllerScope): Promise<void> {
  const { clock } = runtime;
  try {
    await sleep(ms, { clock, signal });
  } catch (error) {
    if (at > clock.now()) throw error;
  }
}
