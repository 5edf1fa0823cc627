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

/** Throws, or rejects, when something is wrong; the message is shown. */
export type Check = () => void | Promise<void>;

/** Runs beside the controllers until the signal aborts. One that rejects is started again after a while. */
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
  /** Whether it runs only on the leader, as controllers do, or on every replica. @default true */
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
   * What happens to a run when the hook fails before it has called `next`: with `"Ignore"` it continues without the
   * hook, with `"Fail"` it counts as failed and is tried again. @default "Ignore"
   */
  readonly failurePolicy?: FailurePolicy | undefined;
}

/** What the routes of a plugin accept. */
export interface RouteOptions {
  /**
   * The largest body in bytes; larger ones get 413. All bodies that are being handled take no more than 64 MiB and one
   * body, and what does not fit within a second gets 429. @default 1 MiB
   */
  readonly largestBody?: number | undefined;
  /**
   * Whether the routes answer what pages of other sites send, and what comes by a name of the internet that leads to
   * this machine. Then the app has to decide, as with Hono's `cors` and `csrf`. @default false
   */
  readonly crossSite?: boolean | undefined;
}

/** What a transform may change of an object: everything that does not identify objects, versions and owners. */
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
   * @throws TypeError for other values, and {@link TryElsewhere} when another replica works one of them, after the
   * others were queued; a route that lets it pass answers 503 with `Retry-After`
   */
  enqueue(...keys: readonly Enqueued[]): void;
  /** Whether this replica works a key, so that `enqueue` takes it; so every replica finds its own keys of a stream. */
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
   * Adds a runnable, which starts after the module's controllers; one for the leader alone starts when their caches
   * have synced. One that fails is logged and counted, shows its module as unavailable, and is started again after 1
   * s, then after twice as long with each failure in a row, up to 5 minutes; it stops nothing else. With an election
   * it runs on the leader, and its signal fires when the lead is lost; it runs again in the next term unless it had
   * ended by itself.
   */
  run(runnable: Runnable, options?: RunnableOptions): void;
  /**
   * Adds a hook around each run of controllers, for traces, policies and limits. Hooks of plugins that this one
   * requires are further out; otherwise the plugin's name decides.
   */
  around(hook: AroundHook, options?: AroundOptions): void;
  /**
   * Changes what the caches keep of each object of a kind, for all modules of the process: in place, and at once. What
   * it drops must not be needed: controllers compare what they apply with what is cached. Several plugins may transform
   * one kind, each in turn, in the order of their hooks. What is cached already is listed again when a transform comes
   * or goes.
   *
   * @example transform(ConfigMap, (draft) => delete draft.binaryData);
   */
  transform<S extends Shape>(resource: Resource<S>, change: (draft: Transformed<S>) => void): void;
  /** Keeps an index of a kind of `reads` from the start, and not only from the first list that uses it. */
  index(index: Index<Shape>): void;
  /** Offers a source of keys to the controllers of all modules. */
  source(name: string): PluginSource;
  /**
   * Provides a service of `provides` to the code of all modules, in place of the one of the plugin's previous version,
   * from when all setups of the module are over. Its methods are called as a part of this module, and calls that are
   * under way are waited for before `onLeave`.
   *
   * @throws TypeError for a service that `provides` does not name, and for what is no object.
   */
  provide<T extends object>(service: Service<T>, instance: T): void;
  /**
   * Returns what a plugin provides under this name; `requires` makes sure that it is there. It may be kept: it always
   * leads to what the plugin's running version provides.
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
  /** Plugins that are set up before this one; its module waits until a module has each. @default none */
  readonly requires?: readonly string[];
  /** The services that its setup provides, named by `service("<plugin>/<name>")`. @default none */
  readonly provides?: readonly Service<object>[];
  /** Kinds that its client reads from the shared caches. @default none */
  readonly reads?: readonly Target<Shape>[];
  /** The calls of its client, for `manifests rbac`. */
  readonly uses?: readonly Permission[];
  setup(registry: Registry): void | Promise<void>;
}
