/** Runs the sources that are not kinds: intervals, cron expressions, async iterables. */
import { Cron } from "croner";
import { abortable } from "../platform/abortable.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import type { Cause } from "../resource/cause.ts";
import { enqueuedKeys } from "./event-mapping.ts";
import type { Invoke } from "./object-reconciler.ts";
import type { KeySource } from "./source.ts";

export interface SourceOptions {
  readonly clock: Clock;
  /** Ends all sources. */
  readonly signal: AbortSignal;
  add(key: string, cause: Cause): void;
  /** Queues every member of `for`. */
  everything(cause: Cause): void;
  readonly invoke: Invoke;
  onError(error: unknown): void;
}

/** Starts the sources; they end with the signal. */
export function runSources(sources: readonly KeySource[], options: SourceOptions): void {
  for (const source of sources) {
    run(source, options).catch((error: unknown) => {
      if (!options.signal.aborted) options.onError(error);
    });
  }
}

async function run(source: KeySource, options: SourceOptions): Promise<void> {
  const { clock, signal } = options;
  switch (source.source) {
    case "every": {
      const cause = { source: "every", type: "generic" };
      while (!signal.aborted) {
        await sleep(source.interval, { clock, signal });
        options.everything(cause);
      }
      return;
    }
    case "cron": {
      const cron = new Cron(source.expression, { paused: true, timezone: "UTC" });
      const cause = { source: `cron ${source.expression}`, type: "generic" };
      while (!signal.aborted) {
        const next = cron.nextRun(new Date(clock.now()));
        if (next === null) return; // the expression matches no future time
        await sleep(next.getTime() - clock.now(), { clock, signal });
        options.everything(cause);
      }
      return;
    }
    case "from": {
      const iterator = options.invoke(() => source.events[Symbol.asyncIterator]());
      const end = (): void =>
        void options.invoke(async () => iterator.return?.()).catch((error: unknown) => options.onError(error));
      signal.addEventListener("abort", end, { once: true });
      try {
        while (!signal.aborted) {
          // An iterator that never answers would keep its module in memory forever.
          const { value, done } = await abortable(
            options.invoke(async () => iterator.next()),
            signal,
          );
          if (done === true || signal.aborted) return;
          for (const key of enqueuedKeys([value])) options.add(key, { source: "from", type: "generic" });
        }
      } finally {
        signal.removeEventListener("abort", end);
      }
    }
  }
}
