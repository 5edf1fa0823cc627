/** What a plugin may register. Everything a module registered leaves with it. */
import type { Hono } from "hono";
import type { Client } from "../client/client.ts";
import type { Index } from "../client/field-index.ts";
import type { Permission } from "../controller/definition.ts";
import type { AroundHook, FailurePolicy } from "../controller/around-hook.ts";
import type { Enqueued, Target } from "../controller/watch.ts";
import type { Logger, RunContext } from "../reconcile/context.ts";
import type { Resource, Shape } from "../resource/handle.ts";
import type { Draft, ObjectMeta } from "../resource/meta.ts";
import type { Definition } from "./definition.ts";

/** Throws, or rejects, when something is wrong; the message is shown. */
export type Check = () => void | Promise<void>;

/**
 * Runs beside the controllers while the module is loaded; ends soon after the signal aborts. One that rejects is started
 * again after a while.
 */
export type Runnable = (context: RunnableContext) => Promise<void>;

export interface RunnableContext {
  /** Fires when the module leaves, and of one for the leader when the lead is lost. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Milliseconds since the epoch, by the process's clock, which a test can replace. */
  readonly now: () => number;
  /** Waits, by the same clock. @throws the signal's reason when it fires. */
  readonly sleep: RunContext["sleep"];
}

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

/** What a hook is put around. */
export interface AroundOptions {
  /** The names of the controllers whose runs it is for. @default all of the process, those of other modules too */
  readonly controllers?: readonly string[] | undefined;
  /**
   * What becomes of a run when the hook fails before it has called `next`: with `"Ignore"` it goes on without the hook, with
   * `"Fail"` it counts as failed and is tried again. @default "Ignore"
   */
  readonly failurePolicy?: FailurePolicy | undefined;
}

/** What a transform may change of an object: all but what tells objects, versions and owners apart. */
export type Transformed<S extends Shape> = Draft<Omit<S["read"], "apiVersion" | "kind" | "metadata">> & {
  readonly apiVersion: S["apiVersion"];
  readonly kind: S["kind"];
  readonly metadata: Omit<ObjectMeta, "annotations"> & { annotations?: Record<string, string> | undefined };
};

/** A source of keys that controllers name in `watches`, as `source.named("<plugin>/<source>")`. */
export interface PluginSource {
  /** Queues these keys, or the keys of these objects, at every controller that names the source. @throws TypeError for others */
  enqueue(...keys: readonly Enqueued[]): void;
}

/** The part of the running system that one module can add to. */
export interface Registry {
  readonly log: Logger;
  /**
   * Reads the kinds of `reads` from the caches and others from the server, and writes, for as long as the module runs; `uses`
   * declares its calls. Only the leader may write.
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
  /**
   * Called around each run of controllers: for traces, policies, limits. Hooks of plugins that this one requires are further
   * out; otherwise those of the plugin that comes first by name are.
   */
  around(hook: AroundHook, options?: AroundOptions): void;
  /**
   * Changes what the caches keep of each object of a kind, for all modules of the process: in place, and at once. What it drops
   * must not be needed: controllers compare what they apply with what is cached. Several plugins may transform one kind,
   * each in turn, in the order of their hooks. What is cached already is listed again when a transform comes or goes.
   *
   * @example transform(ConfigMap, (draft) => delete draft.binaryData);
   */
  transform<S extends Shape>(resource: Resource<S>, change: (draft: Transformed<S>) => void): void;
  /** Keeps an index of a kind of `reads` from the start, and not only from the first list that uses it. */
  index(index: Index<Shape>): void;
  /** Offers a source of keys to the controllers of all modules. */
  source(name: string): PluginSource;
  /** Called when the module leaves, after its runs and runnables have ended: what was set up last is ended first. */
  onLeave(end: () => void | Promise<void>): void;
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
  /**
   * Plugins of this or of other modules that are set up before this one. A module that requires a plugin which no module has
   * waits until there is one. @default none
   */
  readonly requires?: readonly string[];
  /** Kinds that its client reads from the shared caches. @default none */
  readonly reads?: readonly Target<Shape>[];
  /** The calls of its client, for `manifests rbac`. */
  readonly uses?: readonly Permission[];
  setup(registry: Registry): void | Promise<void>;
}
