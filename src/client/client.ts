/** The types of the client that reconcilers read and write with; `kube-client.ts` implements them. */
import type { Scale } from "../resource/builtin/autoscaling.ts";
import type { AnyObject, Resource, Shape } from "../resource/handle.ts";
import type { Draft, Key } from "../resource/meta.ts";
import type { IndexQuery } from "./field-index.ts";
import type { LabelQuery } from "../resource/selector.ts";

/** The type of a namespace for cluster-scoped kinds, which have none; its name is the compiler's message. */
type ClusterScopedKindsHaveNoNamespace = string & { readonly "leave it out": never };

/** A key whose namespace is required or forbidden by the kind's scope; `Default` when the client fills one in. */
export type KeyOf<S extends Shape, Default extends string | undefined = undefined> = [S["scope"]] extends ["Cluster"]
  ? { readonly name: string; readonly namespace?: ClusterScopedKindsHaveNoNamespace | undefined }
  : [S["scope"]] extends ["Namespaced"]
    ? [Default] extends [string]
      ? Key
      : { readonly name: string; readonly namespace: string }
    : Key;

type InNamespace<S extends Shape> = [S["scope"]] extends ["Cluster"]
  ? { readonly namespace?: ClusterScopedKindsHaveNoNamespace | undefined }
  : { readonly namespace?: string | undefined };

/** The objects that `deleteAll` deletes; the type requires a namespace, a selector or `everywhere`. */
export type Everything<S extends Shape> = [S["scope"]] extends ["Cluster"]
  ? { readonly labels: LabelQuery } | { readonly all: true }
  : | { readonly namespace: string; readonly labels?: LabelQuery | undefined }
    | { readonly allNamespaces: true; readonly labels?: LabelQuery | undefined };

/** An object to update, without its status, which only `status` writes. */
export type Updated<S extends Shape> = Omit<S["read"], "status">;

/** Like `Desired`, with `generateName` in place of a name. */
export type Created<S extends Shape> =
  | S["write"]
  | (Omit<S["write"], "metadata"> & {
      readonly metadata: Omit<S["write"] extends { readonly metadata: infer M } ? M : never, "name"> & {
        readonly generateName: string;
      };
    });

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the whole call: its requests, attempts and the waits between them.
   *
   * @default 60_000 for each attempt
   */
  readonly timeout?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The server checks and answers, and stores nothing. @default false */
  readonly dryRun?: boolean | undefined;
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that another manager owns. @default false */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends WriteOptions {
  /** @default the kind's own, mostly "Background" */
  readonly propagation?: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  /** Preconditions: refused with 409 unless the object still is this one. */
  readonly preconditions?:
    { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } | undefined;
}

export type ListOptions<S extends Shape> = InNamespace<S> &
  CallOptions & {
    /** A label selector, such as `app=web,tier in (a, b)` or `{ app: "web", tier: ["a", "b"] }`. */
    readonly labels?: LabelQuery | undefined;
    /** A field selector, such as `status.phase=Running`. */
    readonly fields?: string | undefined;
    /** Only objects that the index has under a value: `byNode.is("node-1")`. */
    readonly index?: IndexQuery<S> | undefined;
    /** The order of the objects. @default no particular order */
    readonly sort?: ((a: S["read"], b: S["read"]) => number) | undefined;
    /** The most objects, the first ones in the order of `sort`. */
    readonly limit?: number | undefined;
  };

/**
 * How a patch is meant.
 *
 * @see https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/
 */
export type Patch =
  | {
      readonly type: "merge" | "strategic";
      readonly body: object;
      /**
       * Refused with 409 unless the object still has this version; an empty version is an error, because it guards
       * nothing.
       */
      readonly resourceVersion?: string;
    }
  | { readonly type: "json"; readonly body: readonly JsonPatchOperation[] };

export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string };

/** One event of `client.watch`. */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: T;
}

export interface Reader<Default extends string | undefined = undefined> {
  /** @throws ApiError 404 when the object does not exist. */
  get<S extends Shape>(resource: Resource<S>, key: KeyOf<S, Default>, options?: CallOptions): Promise<S["read"]>;
  /** Returns `undefined` when the object does not exist. */
  find<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S, Default>,
    options?: CallOptions,
  ): Promise<S["read"] | undefined>;
  list<S extends Shape>(resource: Resource<S>, options?: ListOptions<S>): Promise<readonly S["read"][]>;
}

/** Reads that are answered by the server. */
export interface LiveReader<Default extends string | undefined = undefined> extends Reader<Default> {
  /**
   * Lists page by page; the next page is requested when the caller is done with this one. `limit` is the size of a
   * page.
   *
   * @default 500
   */
  pages<S extends Shape>(
    resource: Resource<S>,
    options?: Omit<ListOptions<S>, "sort" | "index">,
  ): AsyncIterable<readonly S["read"][]>;
}

/** A subresource, such as `token`, of one kind. */
export interface Subresource<S extends Shape, Default extends string | undefined = undefined, Body = AnyObject> {
  get(resource: Resource<S>, key: KeyOf<S, Default>, options?: CallOptions): Promise<Body>;
  update(resource: Resource<S>, key: KeyOf<S, Default>, body: object, options?: WriteOptions): Promise<Body>;
  patch(resource: Resource<S>, key: KeyOf<S, Default>, patch: Patch, options?: WriteOptions): Promise<Body>;
  create(resource: Resource<S>, key: KeyOf<S, Default>, body: object, options?: WriteOptions): Promise<Body>;
}

/**
 * The desired number of replicas, of any kind that has one.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/autoscaling-resources/scale-v1/
 */
export interface ScaleSubresource<Default extends string | undefined = undefined> {
  get<S extends Shape>(resource: Resource<S>, key: KeyOf<S, Default>, options?: CallOptions): Promise<Scale>;
  /** Sets the desired number of replicas. */
  set<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S, Default>,
    replicas: number,
    options?: WriteOptions,
  ): Promise<Scale>;
}

export interface LogOptions {
  /** @default the only container, or the one of the annotation `kubectl.kubernetes.io/default-container` */
  readonly container?: string | undefined;
  /** Continues with new lines until the container ends. @default false */
  readonly follow?: boolean | undefined;
  /** Reads the log of the container before its last restart. @default false */
  readonly previous?: boolean | undefined;
  readonly sinceSeconds?: number | undefined;
  /** Reads only this many of the last lines. */
  readonly tailLines?: number | undefined;
  /** Each line begins with its time. @default false */
  readonly timestamps?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ExecOptions {
  /** @default the only container, or the one of the annotation `kubectl.kubernetes.io/default-container` */
  readonly container?: string | undefined;
  /** The input of the command. @default none */
  readonly stdin?: string | Uint8Array | AsyncIterable<string | Uint8Array> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A stream of bytes; read it once, as chunks or as text. Unread bytes are kept. */
export interface OutputStream extends AsyncIterable<Uint8Array> {
  text(): Promise<string>;
}

/** A command under way. */
export interface Execution {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /**
   * The exit status of the command.
   *
   * @throws ApiError, Error when it cannot be started; UnreachableError when the connection is lost.
   */
  readonly exitCode: Promise<number>;
}

/** The defaults of a client that `with` makes. */
export interface ClientOptions {
  /** The namespace of objects and keys that have none; any other namespace is refused. */
  readonly namespace?: string | undefined;
  /**
   * The server checks every write of this client and stores none. The run's children and status are written
   * nevertheless: `children.sync` and `status.flush` have this option of their own. @default false
   */
  readonly dryRun?: boolean | undefined;
  /** The field manager. @default the controller's name */
  readonly manager?: string | undefined;
  /**
   * Impersonates a user; then nothing is read from a cache.
   *
   * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
   */
  readonly as?: { readonly user: string; readonly groups?: readonly string[]; readonly uid?: string } | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each call: its requests, attempts and the waits between them. @default 60_000 for each attempt */
  readonly timeout?: number | undefined;
}

/**
 * Reads kinds that the controller declared from the shared informers, and other kinds from the API server; writes to
 * the API server.
 *
 * **Guarantees.** A read after a write of this process sees at least that write. Objects from a cache are shared: they
 * are readonly, and frozen in `dev` and tests.
 */
export interface Client<Default extends string | undefined = undefined> extends Reader<Default> {
  create<S extends Shape>(resource: Resource<S>, object: Created<S>, options?: WriteOptions): Promise<S["read"]>;
  /** Replaces the object; refused with 409 when it changed since it was read. */
  update<S extends Shape>(resource: Resource<S>, object: Updated<S>, options?: WriteOptions): Promise<S["read"]>;
  patch<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S, Default>,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<S["read"]>;
  /** Server-side apply with the controller as field manager; no request when a cache shows that nothing differs. */
  apply<S extends Shape>(resource: Resource<S>, object: S["write"], options?: ApplyOptions): Promise<S["read"]>;
  /** Succeeds when the object is gone already, unless the options have preconditions. */
  delete<S extends Shape>(resource: Resource<S>, key: KeyOf<S, Default>, options?: DeleteOptions): Promise<void>;
  /** @throws TypeError when the namespace or the selector is empty, because it would mean everything. */
  deleteAll<S extends Shape>(resource: Resource<S>, what: Everything<S>, options?: DeleteOptions): Promise<void>;
  /**
   * Reads, changes and writes the object, again when other writers were faster; sends no request when `mutate` changes
   * nothing.
   */
  createOrUpdate<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S, Default>,
    mutate: (draft: Draft<S["write"]>) => void,
    options?: WriteOptions,
  ): Promise<"created" | "updated" | "unchanged">;
  /** Read, change, write, again on conflict; no request when `mutate` changes nothing. */
  edit<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S, Default>,
    mutate: (draft: Draft<Updated<S>>) => void,
    options?: WriteOptions,
  ): Promise<S["read"]>;
  subresource(name: "scale"): ScaleSubresource<Default>;
  subresource<S extends Shape = Shape>(name: string): Subresource<S, Default>;
  /**
   * Asks for the removal of a Pod; refused with 429 while a PodDisruptionBudget forbids it.
   *
   * @see https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
   */
  evict(pod: Key, options?: Omit<DeleteOptions, "propagation">): Promise<void>;
  /** The lines of a container's log. */
  logs(pod: Key, options?: LogOptions): AsyncIterable<string>;
  /**
   * Runs a command in a container, without a shell: `client.exec(pod, ["sh", "-c", "…"])`.
   *
   * @see https://kubernetes.io/docs/tasks/debug/debug-application/get-shell-running-container/
   */
  exec(pod: Key, command: readonly string[], options?: ExecOptions): Execution;
  /** The kind's events from now on, or from `resourceVersion`; ends with the signal. */
  watch<S extends Shape>(
    resource: Resource<S>,
    options?: Omit<ListOptions<S>, "sort" | "index" | "limit"> & { readonly resourceVersion?: string | undefined },
  ): AsyncIterable<WatchEvent<S["read"]>>;
  /** A client with other defaults: `client.with({ namespace: "shop", dryRun: true })`. */
  with<const O extends ClientOptions>(options: O): Client<O extends { readonly namespace: string } ? string : Default>;
  /** Reads that always go to the server. */
  readonly live: LiveReader<Default>;
}
