/** One form for `for`, `owns`, `watches` and `reads`: a handle, or `watch(handle, options)`. */
import type { NamespaceSelector } from "../cache/selected-namespaces.ts";
import type { Client } from "../client/client.ts";
import {
  type AnyObject,
  metadataHandle,
  type MetadataOf,
  type MetadataShape,
  readsMetadata,
  type Resource,
  type Shape,
} from "../resource/handle.ts";
import type { Key, ObjectMeta } from "../resource/meta.ts";
import { type LabelQuery, labelSelector } from "../resource/selector.ts";
import type { Predicate } from "./predicate.ts";

/** How a watched kind is narrowed, filtered and tracked. */
export interface WatchOptions<T> {
  /**
   * The namespaces by name, or by labels; the latter come and go while the process runs. An object that leaves with its
   * namespace counts like one that leaves by `match`. @default those of `--namespace`, else all
   */
  readonly namespaces?: readonly string[] | { readonly labels: LabelQuery };
  /** A label selector, such as `"app=web"` or `{ app: "web" }`, which the API server applies. */
  readonly labels?: LabelQuery;
  /** A field selector, which the API server applies. */
  readonly fields?: string;
  /**
   * In `watches` and `reads`: only metadata of the kind is watched and kept. The watch is a handle, too, by which
   * `client` reads metadata from the cache: `client.list(names)` for `const names = watch(Secret, { select: "metadata"
   * })`. With the kind's own handle, `client` reads whole objects from the server.
   */
  readonly select?: "metadata";
  /**
   * In `watches` and `reads`: paths that are kept besides metadata, such as `["spec.nodeName"]`; other fields are
   * dropped.
   */
  readonly keep?: readonly string[];
  /**
   * Membership: objects that do not match do not belong to this controller; an object that stops matching is finalized
   * and released.
   */
  readonly match?: (object: T) => boolean;
  /** Event filter: the changes of a member that cause a run. */
  readonly on?: Predicate<T>;
  /**
   * In `owns`: how children are found. Children that cannot carry an owner reference have a UID label (`label`), and
   * are deleted in finalization.
   * @default "owner"
   */
  readonly track?: "owner" | "label";
}

/** An element of the result of `enqueue` and `source.from`: a key, or an object that has one. */
export type Enqueued = Key | { readonly metadata: ObjectMeta };

/** The options of an entry of `watches`, which maps changes to keys. */
export interface MapOptions<T> extends WatchOptions<T> {
  /** The keys to run for a change of the object; called for the old and the new state. */
  readonly enqueue: (
    object: T,
    context: { readonly client: Pick<Client, "find" | "list"> },
  ) => readonly Enqueued[] | Promise<readonly Enqueued[]>;
}

declare const watched: unique symbol;
declare const watchWithEnqueue: unique symbol;

/** A kind to watch, with options. */
export interface Watch<out S extends Shape> {
  readonly [watched]: S;
}

/** A source of keys. */
export interface MappedWatch {
  readonly [watchWithEnqueue]: true;
}

/** An entry of `for`, `owns` and `reads`. */
export type Target<S extends Shape> = Resource<S> | Watch<S>;

/** The run-time side of {@link Watch} and of a kind's {@link MappedWatch}. */
export interface KindWatch {
  readonly watch: 1;
  readonly resource: Resource;
  readonly options: Omit<Partial<MapOptions<AnyObject>>, "labels" | "namespaces"> & {
    readonly labels?: string;
    readonly namespaces?: readonly string[] | NamespaceSelector;
  };
}

const optionNames = new Set(["namespaces", "labels", "fields", "select", "keep", "match", "on", "track", "enqueue"]);

/** Narrows, filters or maps a kind. @throws TypeError for an unknown option, SyntaxError for a wrong selector. */
export function watch<S extends Shape>(
  resource: Resource<S>,
  options: MapOptions<MetadataOf<S["read"]>> & { readonly select: "metadata" },
): MappedWatch;
export function watch<S extends Shape>(
  resource: Resource<S>,
  options: MapOptions<S["read"]> & { readonly select?: undefined },
): MappedWatch;
export function watch<S extends Shape>(
  resource: Resource<S>,
  options: WatchOptions<MetadataOf<S["read"]>> & { readonly select: "metadata" },
): Watch<MetadataShape<S>> & Resource<MetadataShape<S>>;
export function watch<S extends Shape>(resource: Resource<S>, options: WatchOptions<S["read"]>): Watch<S>;
export function watch(resource: Resource, options: Partial<MapOptions<AnyObject>>): unknown {
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) {
      throw new TypeError(
        `Cannot watch ${resource.kind}: unknown option '${name}', allowed are ${[...optionNames].join(", ")}`,
      );
    }
  }
  if (options.select !== undefined && (options.select !== "metadata" || options.keep !== undefined)) {
    throw new TypeError(`Cannot watch ${resource.kind}: select can be "metadata", without keep`);
  }
  const { labels, namespaces, select = readsMetadata(resource) ? "metadata" : undefined, ...rest } = options;
  const narrowed: KindWatch["options"] = {
    ...rest,
    ...(select !== undefined && { select }),
    ...(labels !== undefined && { labels: labelSelector(labels).toString() }),
    ...(namespaces !== undefined && { namespaces: namespacesOf(resource, namespaces) }),
  };
  const handle = select === undefined ? undefined : metadataHandle(resource);
  return Object.freeze({ ...handle, watch: 1, resource, options: narrowed } satisfies KindWatch);
}

function namespacesOf(
  { kind, scope }: Resource,
  namespaces: readonly string[] | { readonly labels: LabelQuery },
): readonly string[] | NamespaceSelector {
  if (Array.isArray(namespaces)) return namespaces as readonly string[];
  const { labels, ...unknown } = namespaces as { readonly labels: LabelQuery };
  if (labels === undefined || Object.keys(unknown).length > 0) {
    throw new TypeError(`Cannot watch ${kind}: namespaces must be a list of names, or { labels: … }`);
  }
  if (scope === "Cluster") throw new TypeError(`Cannot watch ${kind}: it has no namespaces, so none can be selected`);
  return { labels: labelSelector(labels).toString() };
}

/** The paths that a watch keeps besides metadata; `undefined` for whole objects. */
export function keptPaths({ options }: KindWatch): readonly string[] | undefined {
  return options.select === "metadata" ? [] : options.keep;
}

/** The watch behind a target: a bare handle has no options. */
export function kindWatch(target: Target<Shape> | MappedWatch): KindWatch {
  const candidate = target as unknown as Partial<KindWatch>;
  return candidate.watch === 1 ? (candidate as KindWatch) : { watch: 1, resource: target as Resource, options: {} };
}
