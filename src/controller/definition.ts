/** The options of `defineController` and `defineKeyController`. */
import type { MetricDeclaration } from "../observe/author-metric.ts";
import type { RateLimiter } from "../queue/rate-limiter.ts";
import type { ObjectContext, Result, RunContext } from "../reconcile/context.ts";
import type { Duration } from "../resource/duration.ts";
import type { Resource, Shape } from "../resource/handle.ts";
import type { Key } from "../resource/meta.ts";
import type { Daemon } from "./daemon.ts";
import type { MappedWatch, Target, Watch } from "./watch.ts";

type PlainVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** Verbs that permit actions other than access to the objects of a kind. */
type SpecialVerb =
  /** Verbs for a Role or ClusterRole: to bind it, and to grant more with it than one has. */
  | "bind"
  | "escalate"
  /**
   * A verb for a ServiceAccount, or for `resource("v1", "User")` and `resource("v1", "Group")`: to act as that user.
   */
  | "impersonate"
  | `impersonate:${string}`
  | `impersonate-on:${string}`
  /** On `resource("certificates.k8s.io/v1", "Signer")`. */
  | "approve"
  | "attest"
  | "sign"
  /** A verb for kinds that admission plugins check, such as SecurityContextConstraints. */
  | "use";

/** The verbs of RBAC, for the kind itself or for a subresource, such as `"scale/patch"`. */
export type Verb = PlainVerb | SpecialVerb | `${string}/${PlainVerb | SpecialVerb}`;

/** Narrows a permission. */
export interface Narrowed {
  /**
   * The names of the objects to which the permission applies; not for `create` and `deletecollection`, whose requests
   * name none.
   * @default all
   */
  readonly names: readonly string[];
}

declare const permission: unique symbol;
/** A permission for `uses`, made by {@link allow}. */
export interface Permission {
  readonly [permission]: true;
}

/** The run-time side of {@link Permission}. */
export interface AllowedVerbs {
  readonly resource: Resource;
  readonly verbs: readonly Verb[];
  /** @default all */
  readonly names?: readonly string[] | undefined;
}

/**
 * Permits a call outside the declarations; `manifests rbac` includes it.
 *
 * @example
 * allow(ConfigMap, "get", "create");
 * allow(Deployment, "scale/patch");
 * allow(ClusterRole, "bind", { names: ["edit"] });
 */
export function allow(resource: Resource, ...verbs: readonly Verb[] | readonly [...Verb[], Narrowed]): Permission {
  const last = verbs.at(-1);
  const narrowed = typeof last === "object" ? last : undefined;
  const permission: AllowedVerbs = {
    resource,
    verbs: (narrowed === undefined ? verbs : verbs.slice(0, -1)) as readonly Verb[],
    ...(narrowed !== undefined && { names: narrowed.names }),
  };
  return Object.freeze(permission) as unknown as Permission;
}

/** Returns the verbs that a permission of `uses` permits. */
export function allowedVerbs(permission: Permission): AllowedVerbs {
  return permission as unknown as AllowedVerbs;
}

/** Per-key exponential back-off. */
export interface Retry {
  /** @default "5ms" */
  readonly first?: Duration;
  /** @default "1000s" */
  readonly max?: Duration;
  /** The number of consecutive failures after which a key is parked. @default Infinity */
  readonly limit?: number;
  /**
   * The number of consecutive failures after which an Event `ReconcileFailed` reports them on the object; `Infinity`
   * for never. @default 3
   */
  readonly tellAfter?: number;
  /**
   * Also reports failures in a condition, with this type or `<group>/<controller>-reconciled`: `False` while runs fail,
   * `True` again after a success. The kind needs `conditions(…)` in its status. @default false
   */
  readonly condition?: boolean | string;
  /** Makes a limiter of `binnacle/cache` instead of the exponential one, such as `() => fastSlow({ … })`. */
  readonly limiter?: () => RateLimiter;
}

/** A label whose values divide the objects. */
export interface ShardLabel {
  /** The name of the label. Each object has the label from its creation, and its value never changes. */
  readonly label: string;
  /** All values of the label. Objects with another value or without the label are not reconciled. */
  readonly values: readonly string[];
}

/** Decides which of several replicas works an object. */
export type ShardBy = "uid" | "namespace" | ShardLabel;

/** The options that every controller has. */
export interface CommonOptions<Metrics = {}> {
  /**
   * Metrics of the controller, by the names under which its code finds them in `context.metrics`. The metrics listener
   * serves them as long as the module runs. @default none
   */
  readonly metrics?: Metrics;
  /** The maximum number of parallel runs; a key never has two. @default that of `--concurrency` */
  readonly concurrency?: number;
  /**
   * The deadline of a run. When it passes, the signal fires and the run's client, children and status refuse writes;
   * the key stays locked until the promise settles. @default none
   */
  readonly timeout?: Duration;
  /** Per-key exponential back-off. @default { first: "5ms", max: "1000s", limit: Infinity } */
  readonly retry?: Retry;
  /**
   * The own writes after which a run's key runs again. By default those that the author makes with `client`: the key
   * then runs once after the run, if it succeeds, so that a controller may go one step per run; a write that changes
   * nothing does not count. `true` adds the runtime's writes of declared state (children, status, finalizers); `false`
   * excludes both. A change of the `generation` of the key's own object always counts.
   *
   * @default the author's writes
   */
  readonly reconcileOwnWrites?: boolean;
  /** The least time between the beginnings of two runs of a key, whatever causes them. @default none */
  readonly minInterval?: Duration;
  /**
   * A key runs once it has had no event for this time, at the latest after ten times this time, so that a burst of
   * changes causes one run. @default none
   */
  readonly debounce?: Duration;
  /**
   * The keys that run when a new version of the module takes over. Keys that wait are passed to it in any case, with
   * their causes and attempts, and a key whose run is under way waits for its end.
   *
   * With `"reconcile-all"` every object runs once, behind all waiting keys, because new code may want another state;
   * keys that are delayed or back off run too, and parked ones are freed. With `"resume"` nothing else runs: delayed
   * keys keep their times, those that failed their back-off, and parked ones stay parked.
   *
   * @default "reconcile-all"
   */
  readonly onReload?: "reconcile-all" | "resume";
  /**
   * After this time the log and `/readyz?verbose` report caches that have not synced; they keep trying. @default "2m"
   */
  readonly syncTimeout?: Duration;
  readonly watches?: readonly MappedWatch[];
  /** Kinds read from the shared cache besides `for` and `owns`. */
  readonly reads?: readonly Target<Shape>[];
  /** Permissions for calls outside the declarations. */
  readonly uses?: readonly Permission[];
}

/** The shape of a target's kind. */
export type ShapeOf<T> = T extends Resource<infer S> ? S : T extends Watch<infer S> ? S : never;

/** The options of `defineController`: reconciles the objects of one kind. */
export interface ObjectController<
  S extends Shape,
  Owns extends readonly Target<Shape>[],
  Values = {},
  Metrics = {},
> extends CommonOptions<Metrics> {
  /**
   * @default the kind in lower case. Names the field manager, the finalizer and the metrics: keep it when you rename
   * the file.
   */
  readonly name?: string;
  /** Earlier names, whose managed fields and finalizers are taken over. */
  readonly formerly?: readonly string[];
  readonly for: Target<S>;
  readonly owns?: Owns;
  /**
   * With `--shards`, the property that decides which replica works on an object and its children. By `uid` the work is
   * spread evenly, and a server that divides collections sends each replica only its part. By `namespace`, one replica
   * works on all objects of a namespace. With a label, every server can send each replica its part, by a selector. Only
   * the owner's replica keeps children that have the owner's label; every replica keeps the others.
   *
   * Change it only while no replica runs: a replica that divides by another property could work on the same objects.
   *
   * @default "uid"
   */
  readonly shardBy?: ShardBy;
  /**
   * Runs each object again after this time, whatever else causes runs. Each object has its own timer, which begins when
   * the object appears; a function is called again after each change of the object, and returns `undefined` for an
   * object that needs no timer. @default none
   */
  readonly every?: Duration | ((object: S["read"]) => Duration | undefined);
  /**
   * Code that runs beside each object, such as a connection to the system that the object represents. It begins when
   * the object exists, and ends when the object is being deleted or no longer matches, when the module leaves, or when
   * another replica works on the object. An object never has two daemons of the same name.
   */
  readonly daemons?: { readonly [D in keyof Values]: Daemon<S, Values[D], Metrics> };
  /** Called for an existing member that is not being deleted. */
  reconcile(
    object: S["read"],
    context: ObjectContext<S, ShapeOf<Owns[number]>, Values, Metrics>,
  ): Promise<void | Result>;
  /**
   * Its presence makes the runtime add a finalizer before the first reconcile, and remove it after `finalize`
   * succeeded. A result with `requeueAfter` means: not finished yet, call it again.
   */
  finalize?(
    object: S["read"],
    context: Omit<ObjectContext<S, ShapeOf<Owns[number]>, Values, Metrics>, "children">,
  ): Promise<void | Result>;
}

/** The options of `defineKeyController`: reconciles keys that need no object. */
export interface KeyController<Metrics = {}> extends CommonOptions<Metrics> {
  readonly name: string;
  /** With `--shards`, the property that decides which replica works on a key. @default "key" */
  readonly shardBy?: "key" | "namespace";
  reconcile(key: Key, context: RunContext<Metrics>): Promise<void | Result>;
}

/** An object controller of any kind, as the run time handles it. */
export type AnyObjectController = ObjectController<
  Shape,
  readonly Target<Shape>[],
  { readonly [daemon: string]: unknown }
>;

/** A controller of either sort. */
export type AnyController = (AnyObjectController | KeyController) & {
  readonly metrics?: Readonly<Record<string, MetricDeclaration>>;
};
