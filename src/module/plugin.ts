/** What a plugin may register. Everything a module registered leaves with it. */
import type { Hono } from "hono";
import type { Client } from "../client/client.ts";
import type { Permission } from "../controller/definition.ts";
import type { Logger } from "../reconcile/context.ts";
import type { Resource } from "../resource/handle.ts";
import type { Definition } from "./definition.ts";

/** Throws, or rejects, when something is wrong; the message is shown. */
export type Check = () => void | Promise<void>;

/**
 * Runs beside the controllers while the module is loaded; ends soon after the signal aborts. One that rejects is started
 * again after a while.
 */
export type Runnable = (context: { readonly signal: AbortSignal; readonly log: Logger }) => Promise<void>;

export interface RunnableOptions {
  /** Runs on the leader alone, as controllers do; `false` runs it on every replica. @default true */
  readonly leaderOnly?: boolean | undefined;
}

/** A number of the plugin's own, read at each scrape. */
export interface PluginMetric {
  /** Such as `shop_orders_total`: letters, digits and underscores. */
  readonly name: string;
  readonly help: string;
  /** @default "gauge" */
  readonly type?: "gauge" | "counter";
  readonly value: () => number;
}

/** A metric that the plugin writes. */
export interface MetricOptions<L extends string> {
  /** Such as `shop_orders_total`: letters, digits and underscores; that of a counter ends with `_total`. */
  readonly name: string;
  readonly help: string;
  /** The names of its labels. Each set of values is a series of its own, for as long as the module runs. @default none */
  readonly labels?: readonly L[] | undefined;
}

/** The labels of a metric that has some, and a number. */
type Measured<L extends string, Value extends readonly unknown[]> = [L] extends [never]
  ? Value
  : [labels: { readonly [K in L]: string }, ...value: Value];

/** Goes up. */
export interface Counter<L extends string> {
  /** @param by @default 1 */
  inc(...by: Measured<L, [by?: number]>): void;
}

/** Goes up and down. */
export interface Gauge<L extends string> {
  set(...value: Measured<L, [value: number]>): void;
  /** @param by @default 1 */
  inc(...by: Measured<L, [by?: number]>): void;
  /** @param by @default 1 */
  dec(...by: Measured<L, [by?: number]>): void;
}

/** Counts observations by size. */
export interface Histogram<L extends string> {
  observe(...value: Measured<L, [value: number]>): void;
}

/** The part of the running system that one module can add to. */
export interface Registry {
  readonly log: Logger;
  /**
   * Reads from the server and writes to it, for as long as the module runs; `uses` declares its calls. Only the leader may
   * write.
   */
  readonly client: Client;
  /** Controllers and resources made at run time, such as one per entry of a configuration. */
  add(...definitions: readonly (Definition | Resource)[]): void;
  /** HTTP routes under `/plugins/<plugin name>`: on the health listener, and over TLS on the webhook listener once there is one. */
  route(app: Hono): void;
  /** Part of `/healthz` and `/livez`, as `<plugin name>/<name>`. */
  healthCheck(name: string, check: Check): void;
  /** Part of `/readyz`, as `<plugin name>/<name>`. */
  readyCheck(name: string, check: Check): void;
  /**
   * Started after the module's controllers, and one for the leader alone when their caches have synced. One that fails is logged and counted, shows its module as unavailable, and is
   * started again after 1 s, then twice as long with each failure in a row, 5 minutes at the most; it stops nothing else.
   * With an election it runs on the leader, and its signal fires when the lead is lost; it runs again in the next term
   * unless it had ended by itself.
   */
  run(runnable: Runnable, options?: RunnableOptions): void;
  /** A number that is asked for at each scrape. */
  metric(metric: PluginMetric): void;
  /** @throws TypeError, Error for a name that is wrong or taken; likewise below. */
  counter<const L extends string = never>(options: MetricOptions<L>): Counter<L>;
  gauge<const L extends string = never>(options: MetricOptions<L>): Gauge<L>;
  /** `buckets` are the upper bounds, rising. @default 5 ms to 10 s, in seconds */
  histogram<const L extends string = never>(
    options: MetricOptions<L> & { readonly buckets?: readonly number[] | undefined },
  ): Histogram<L>;
}

export interface Plugin {
  readonly name: string;
  /** The calls of its client, for `manifests rbac`. */
  readonly uses?: readonly Permission[];
  setup(registry: Registry): void | Promise<void>;
}
