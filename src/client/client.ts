/** What a reconciler reads and writes with: the types. `kube-client.ts` implements them. */
import type { AnyObject, Desired, Resource, Scope, Shape } from "../resource/handle.ts";
import type { Draft, Key } from "../resource/meta.ts";
import type { LabelQuery } from "../resource/selector.ts";

/** A key whose namespace is required or refused by the kind's scope. */
export type KeyOf<S extends Shape> = [S["scope"]] extends ["Cluster"]
  ? { readonly name: string; readonly namespace?: never }
  : [S["scope"]] extends ["Namespaced"]
    ? { readonly name: string; readonly namespace: string }
    : Key;

type InNamespace<S extends Shape> = [S["scope"]] extends ["Cluster"]
  ? { readonly namespace?: never }
  : { readonly namespace?: string | undefined };

/** `deleteAll` cannot be called without saying where. */
export type Everything<S extends Shape> = [S["scope"]] extends ["Cluster"]
  ? { readonly labels: LabelQuery } | { readonly all: true }
  : | { readonly namespace: string; readonly labels?: LabelQuery | undefined }
    | { readonly allNamespaces: true; readonly labels?: LabelQuery | undefined };

/** Status is written through `status`, never by `update` or `edit`. */
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
  /** Milliseconds for the whole call. @default 60_000 */
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
  /** Refused with 409 unless the object is still this one. */
  readonly preconditions?:
    { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } | undefined;
}

export type ListOptions<S extends Shape> = InNamespace<S> &
  CallOptions & {
    /** A label selector, such as `app=web,tier in (a, b)` or `{ app: "web", tier: ["a", "b"] }`. */
    readonly labels?: LabelQuery | undefined;
    /** A field selector, such as `status.phase=Running`. */
    readonly fields?: string | undefined;
    /** At most so many objects. */
    readonly limit?: number | undefined;
  };

/** How a patch is meant. @see https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/ */
export type Patch =
  | { readonly type: "merge"; readonly body: object }
  | { readonly type: "strategic"; readonly body: object }
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

/** Reads that never wait for a cache. */
export interface Reader {
  /** @throws ApiError 404 when there is no such object. */
  get<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<S["read"]>;
  /** `undefined` when there is no such object. */
  find<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<S["read"] | undefined>;
  list<S extends Shape>(resource: Resource<S>, options?: ListOptions<S>): Promise<readonly S["read"][]>;
}

/** A subresource, such as `scale`, of one kind. */
export interface Subresource<S extends Shape> {
  get(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<AnyObject>;
  update(resource: Resource<S>, key: KeyOf<S>, body: object, options?: WriteOptions): Promise<AnyObject>;
  patch(resource: Resource<S>, key: KeyOf<S>, patch: Patch, options?: WriteOptions): Promise<AnyObject>;
  create(resource: Resource<S>, key: KeyOf<S>, body: object, options?: WriteOptions): Promise<AnyObject>;
}

/**
 * Reads from the shared informers where the controller declared the kind, live elsewhere; writes to the API server.
 *
 * **Guarantees.** A read after a write of this process sees at least that write. Objects from a cache are shared:
 * they are readonly, and frozen in `dev` and tests.
 */
export interface Client extends Reader {
  create<S extends Shape>(resource: Resource<S>, object: Created<S>, options?: WriteOptions): Promise<S["read"]>;
  /** Replaces the object; refused with 409 when it changed since it was read. */
  update<S extends Shape>(resource: Resource<S>, object: Updated<S>, options?: WriteOptions): Promise<S["read"]>;
  patch<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<S["read"]>;
  /** Server-side apply with the controller as field manager. */
  apply<S extends Shape>(resource: Resource<S>, object: S["write"], options?: ApplyOptions): Promise<S["read"]>;
  /** Succeeds when the object is gone already, unless preconditions are given. */
  delete<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: DeleteOptions): Promise<void>;
  deleteAll<S extends Shape>(resource: Resource<S>, what: Everything<S>, options?: DeleteOptions): Promise<void>;
  /** Read, change, write; no request when `mutate` changes nothing. */
  createOrUpdate<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    mutate: (draft: Draft<S["write"]>) => void,
    options?: WriteOptions,
  ): Promise<"created" | "updated" | "unchanged">;
  /** Read, change, write, again on conflict; no request when `mutate` changes nothing. */
  edit<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    mutate: (draft: Draft<Updated<S>>) => void,
    options?: WriteOptions,
  ): Promise<S["read"]>;
  subresource<S extends Shape = Shape>(name: string): Subresource<S>;
  /** The kind's events from now on, or from `resourceVersion`; ends with the signal. */
  watch<S extends Shape>(
    resource: Resource<S>,
    options?: ListOptions<S> & { readonly resourceVersion?: string | undefined },
  ): AsyncIterable<WatchEvent<S["read"]>>;
  /** Straight from the server. */
  readonly live: Reader;
}

export type { AnyObject, Desired, Scope };
