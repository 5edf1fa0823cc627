/** A module that `runModule` runs. */
import type { LogLevel } from "../observe/log.ts";

/** One line of a module's log. */
export interface LogLine {
  readonly level: LogLevel;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface RunningModule extends AsyncDisposable {
  /** The lines from level `info` up, including the SDK's own. */
  readonly log: readonly LogLine[];
  /** Whether the module works: always, unless it shares a Lease with others. */
  readonly isLeader: boolean;
  /**
   * Returns the value of a metric, such as `metric("shop_shipped_total", { carrier: "post" })`: the sum of all series
   * that have these labels, among others. A histogram has `…_count` and `…_sum`. It returns `undefined` when there is
   * no such series.
   */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined>;
  /**
   * Sends a request to the module's health listener, without a port: `fetch("/plugins/shop/orders", { method: "POST"
   * })` calls a route of a plugin, `fetch("/readyz?verbose")` asks the checks, and `fetch("/metrics")` shows all
   * metrics.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Waits until no object has been queued or running for this many milliseconds. @default 50 */
  idle(quiet?: number): Promise<void>;
  /** Lets active runs finish, and ends the module. */
  stop(): Promise<void>;
}
