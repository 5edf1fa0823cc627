/** Sources of keys that are not kinds: intervals, cron expressions, async iterables, and sources of plugins. */
import { Cron } from "croner";
import { type Duration, parseDuration } from "../resource/duration.ts";
import type { Enqueued, MappedWatch } from "./watch.ts";

/** The runtime representation of a source. */
export type KeySource =
  | { readonly source: "every"; readonly interval: number }
  | { readonly source: "cron"; readonly expression: string }
  | { readonly source: "from"; readonly events: AsyncIterable<Enqueued> }
  | { readonly source: "named"; readonly name: string };

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

function mapped(source: KeySource): MappedWatch {
  return Object.freeze(source) as unknown as MappedWatch;
}

/** The source behind a mapped watch; `undefined` for the watch of a kind. */
export function keySource(watch: MappedWatch): KeySource | undefined {
  const candidate = watch as unknown as Partial<KeySource>;
  return candidate.source === undefined ? undefined : (candidate as KeySource);
}

/** Sources for `watches` that are not kinds. */
export const source: {
  /** Queues every member of `for` after each interval; a key controller gets the key `{ name: <its name> }`. */
  every(interval: Duration): MappedWatch;
  /** Does the same at the times of a cron expression, in UTC. @see https://crontab.guru */
  cron(expression: string): MappedWatch;
  /** Queues the keys that an async iterable yields while the controller runs. */
  from(events: AsyncIterable<Enqueued>): MappedWatch;
  /**
   * Queues the keys that a plugin of this or of another module passes to its source with this name, such as
   * `shop/orders`. The plugin may start later, leave and return; keys that it passes while nothing listens are lost.
   */
  named(name: string): MappedWatch;
} = Object.freeze({
  every(interval: Duration): MappedWatch {
    const ms = parseDuration(interval, "source.every");
    if (ms <= 0) throw new RangeError(`Cannot use source.every: the interval must be more than 0, got ${interval}`);
    return mapped({ source: "every", interval: ms });
  },
  cron(expression: string): MappedWatch {
    new Cron(expression, { paused: true }).stop(); // throws on a bad expression
    return mapped({ source: "cron", expression });
  },
  from(events: AsyncIterable<Enqueued>): MappedWatch {
    return mapped({ source: "from", events });
  },
  named(name: string): MappedWatch {
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new TypeError(
        `Cannot use source.named: expected the names of a plugin and of a source of it, such as 'shop/orders', got ${JSON.stringify(name)}`,
      );
    }
    return mapped({ source: "named", name });
  },
});
