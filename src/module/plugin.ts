/** The interface with which a plugin registers its parts. Everything that a module registered is removed with it. */
import type { Hono } from "hono";
import type { Client } from "../client/client.ts";
import type { Index } from "../client/field-index.ts";
import type { Permission } from "../controller/definition.ts";
import type { AroundHook, FailurePolicy } from "../controller/around-hook.ts";
import type { Enqueued, Target } from "../controller/watch.ts";
import type { Counter, Gauge, Histogram, MetricOptions } from "../observe/author-metric.ts";
import type { Logger, RunContext } from "../reconcile/context.ts";
import type { Service, UseService } from "../reconcile/services.ts";
import type { Resource, Shape } from "../resource/handle.ts";
import type { Draft, ObjectMeta } from "../resource/meta.ts";
import type { Definition } from "./definition.ts";

/** A check: it throws, or rejects, when it fails; the message is displayed. */
export type Check = () => void | Promise<void>;

/** Runs beside the controllers until the signal aborts. A runnable that rejects is started again after a while. */
export type Runnable = (context: RunnableContext) => Promise<void>;

export interface RunnableContext {
  /** Fires when the module leaves and, for a runnable of the leader, when the lead is lost. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Returns milliseconds since the epoch by the process's clock, which a test can replace. */
  readonly now: () => number;
  /** Waits by the same clock. @throws the signal's reason when it fires. */
  readonly sleep: RunContext["sleep"];
}

export interface RunnableOptions {
  /** Whether it runs only on the leader, like controllers, or on every replica. @default true */
  readonly leaderOnly?: boolean | undefined;
}

/** A number of the plugin's own, which is read at each scrape. */
export interface PluginMetric {
  /** The name, such as `shop_orders_total`: letters, digits and underscores. */
  readonly name: string;
  readonly help: string;
  /** @default "gauge" */
  readonly type?: "gauge" | "counter";
  readonly value: () => number;
}

/** The runs to which a hook applies. */
export interface AroundOptions {
  /** The names of the controllers. @default all of the process, including those of other modules */
  readonly controllers?: readonly string[] | undefined;
  /**
   * The effect on a run when the hook fails before it has called `next`: with `"Ignore"` the run continues without the
   * hook, with `"Fail"` it counts as failed and is tried again. @default "Ignore"
   */
  readonly failurePolicy?: FailurePolicy | undefined;
}

/** Limits on the requests that the routes of a plugin accept. */
export interface RouteOptions {
  /**
   * The largest body in bytes; larger ones get 413. Together, all bodies in progress may have 64 MiB and one body; a
   * request that finds no room within a second gets 429. @default 1 MiB
   */
  readonly largestBody?: number | undefined;
  /**
   * Whether the routes answer requests of other sites' pages, and requests by a name of the internet that resolves to
   * this machine. The app must then decide itself, for example with Hono's `cors` and `csrf`. @default false
   */
  readonly crossSite?: boolean | undefined;
}

/** The fields of an object that a transform may change: all except those that identify objects, versions and owners. */
export type Transformed<S extends Shape> = Draft<Omit<S["read"], "apiVersion" | "kind" | "metadata">> & {
  readonly apiVersion: S["apiVersion"];
  readonly kind: S["kind"];
  readonly metadata: Omit<ObjectMeta, "annotations"> & { annotations?: Record<string, string> | undefined };
};

/** A source of keys that controllers name in `watches`, as `source.named("<plugin>/<source>")`. */
export interface PluginSource {
  /**
   * Queues these keys, or the keys of these objects, for every controller that names the source.
   *
   * @throws TypeError for other values, and {@link TryElsewhere} when another replica works on one of them, after the
   * others were queued; a route that does not catch it answers 503 with `Retry-After`
   */
  enqueue(...keys: readonly Enqueued[]): void;
  /**
   * Whether this replica works on a key, so that `enqueue` takes it; each replica can thereby select its own keys from
   * a stream.
   */
  takes(key: Enqueued): boolean;
}

/** The parts of the running system to which a plugin can add. */
export interface Registry {
  readonly log: Logger;
  /**
   * Reads the kinds of `reads` from the caches and others from the server, and writes, while the module runs; `uses`
   * declares its calls. Only the leader may write.
   */
  readonly client: Client;
  /** Adds controllers and resources at run time, such as one for each entry of a configuration. */
  add(...definitions: readonly (Definition | Resource)[]): void;
  /**
   * Adds HTTP routes under `/plugins/<plugin name>` on the health listener, and over TLS on the webhook listener once
   * there is one. Bodies are limited in size, and requests that pages of other sites make browsers send are refused.
   */
  route(app: Hono, options?: RouteOptions): void;
  /** Adds a check to `/healthz` and `/livez`, as `<plugin name>/<name>`. */
  healthCheck(name: string, check: Check): void;
  /** Adds a check to `/readyz`, as `<plugin name>/<name>`. */
  readyCheck(name: string, check: Check): void;
  /**
   * Adds a runnable, which starts after the module's controllers; a leader-only runnable starts when their caches have
   * synced. A runnable that fails is logged and counted, shows its module as unavailable, and is started again after 1
   * s, then after twice as long with each failure in a row, up to 5 minutes; it stops nothing else. With an election, a
   * leader-only runnable's signal fires when the lead is lost; it runs again in the next term unless it had ended by
   * itself.
   */
  run(runnable: Runnable, options?: RunnableOptions): void;
  /**
   * Adds a hook around each run of controllers, for traces, policies and limits. Hooks of plugins that this one
   * requires are further out; otherwise the plugin's name decides.
   */
  around(hook: AroundHook, options?: AroundOptions): void;
  /**
   * Changes what the caches keep of each object of a kind, for all modules of the process: in place, and at once. It
   * may drop only fields that nobody needs: controllers compare applied objects with cached ones. Several plugins may
   * transform one kind, each in turn, in the order of their hooks. Cached objects are listed again when a transform
   * comes or goes.
   *
   * @example transform(ConfigMap, (draft) => delete draft.binaryData);
   */
  transform<S extends Shape>(resource: Resource<S>, change: (draft: Transformed<S>) => void): void;
  /** Keeps an index of a kind of `reads` from the start, and not only from the first list that uses it. */
  index(index: Index<Shape>): void;
  /** Offers a source of keys to the controllers of all modules. */
  source(name: string): PluginSource;
  /**
   * Provides a service of `provides` to the code of all modules, in place of the previous version's, as soon as all
   * setups of the module are done. Its methods run as a part of this module, and `onLeave` waits for calls under way.
   *
   * @throws TypeError for a service that `provides` does not name, and for a value that is not an object.
   */
  provide<T extends object>(service: Service<T>, instance: T): void;
  /**
   * Returns a service of a plugin; `requires` ensures that it exists. The result may be kept: it always calls the
   * service of the plugin's running version.
   */
  readonly service: UseService;
  /** Calls the function when the module leaves, after runs and runnables, in reverse order of the setup. */
  onLeave(end: () => void | Promise<void>): void;
  /** Adds a number that is read at each scrape. */
  metric(metric: PluginMetric): void;
  /** Adds a counter. @throws TypeError, Error for a name that is invalid or taken; so do the methods below. */
  counter<const L extends string = never>(options: MetricOptions<L>): Counter<L>;
  gauge<const L extends string = never>(options: MetricOptions<L>): Gauge<L>;
  /** Adds a histogram. `buckets` are the increasing upper bounds. @default 5 ms to 10 s, in seconds */
  histogram<const L extends string = never>(
    options: MetricOptions<L> & { readonly buckets?: readonly number[] | undefined },
  ): Histogram<L>;
}

export interface Plugin {
  readonly name: string;
  /** Plugins that are set up before this one; its module waits until each of them exists. @default none */
  readonly requires?: readonly string[];
  /** The services that its setup provides, named by `service("<plugin>/<name>")`. @default none */
  readonly provides?: readonly Service<object>[];
  /** Kinds that its client reads from the shared caches. @default none */
  readonly reads?: readonly Target<Shape>[];
  /** The calls of its client, for `manifests rbac`. */
  readonly uses?: readonly Permission[];
  setup(registry: Registry): void | Promise<void>;
}
