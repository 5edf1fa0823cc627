/** The client of one run: reads through `ObjectReader`, writes through `ObjectWriter`, and combines both. */
import { anySignal } from "../platform/abortable.ts";
import type { HeaderValues } from "../kube/config/cluster-config.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../kube/errors/api-error.ts";
import { Pod } from "../resource/builtin/core.ts";
import type { Scale } from "../resource/builtin/autoscaling.ts";
import { edit } from "../resource/edit.ts";
import { type AnyObject, groupKind, type Resource, type Shape } from "../resource/handle.ts";
import { sameJson } from "../resource/json.ts";
import type { Draft, Key } from "../resource/meta.ts";
import { keyString } from "../resource/meta.ts";
import { labelSelector } from "../resource/selector.ts";
import { AppliedMemory } from "./applied-memory.ts";
import type {
  ApplyOptions,
  CallOptions,
  Client,
  ClientOptions,
  Created,
  DeleteOptions,
  Everything,
  ExecOptions,
  Execution,
  KeyOf,
  ListOptions,
  LiveReader,
  LogOptions,
  Patch,
  ScaleSubresource,
  Subresource,
  Updated,
  WatchEvent,
  WriteOptions,
} from "./client.ts";
import { indexedBy } from "./field-index.ts";
import { childUpdates } from "./child-entry.ts";
import { handOver } from "./handover.ts";
import { keepRead, keepEvents, keepPages } from "./keep-reads.ts";
import { appliedFields } from "./managed-fields.ts";
import { type ListQuery, ObjectReader, type ReadOptions } from "./object-reader.ts";
import { ObjectWriter } from "./object-writer.ts";
import { podExec } from "./pod-exec.ts";
import { podLog } from "./pod-log.ts";
import type { ClientScope, RequestContext } from "./client-scope.ts";
import { timeLeft } from "./time-left.ts";
import { watchEvents, type WatchQuery } from "./watch-events.ts";

const ATTEMPTS = 5;

/** The reader and the writer that all clients of a controller use. */
export interface ClientCore {
  readonly scope: ClientScope;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  /** Remembers the fields that these clients and `children` have applied. */
  readonly applied: AppliedMemory;
}

/** @param applied the memory of an earlier version of the controller. @default nothing */
export function clientCore(scope: ClientScope, applied: AppliedMemory = new AppliedMemory()): ClientCore {
  return { scope, reader: new ObjectReader(scope), writer: new ObjectWriter(scope), applied };
}

/** Keys may be of any kind: the types of `Client` tell callers which kinds need a namespace. */
export class KubeClient implements Client {
  readonly #core: ClientCore;
  readonly #context: RequestContext;
  readonly #defaults: Defaults;

  /** @param defaults the options of every call. @default nothing */
  constructor(core: ClientCore, context: RequestContext, defaults: Defaults = NO_DEFAULTS) {
    this.#core = core;
    this.#context = context;
    this.#defaults = defaults;
  }

  get live(): LiveReader {
    const { reader } = this.#core;
    const context = this.#context;
    return {
      get: (resource, key, options) => {
        const read = (own: Key): Promise<AnyObject> => reader.getLive(resource, own, this.#reading(options));
        return keepRead(context, resource, this.#within(resource, key, read));
      },
      find: (resource, key, options) => {
        const read = (own: Key): Promise<AnyObject | undefined> =>
          reader.findLive(resource, own, this.#reading(options));
        return keepRead(context, resource, this.#within(resource, key, read));
      },
      list: (resource, options) =>
        keepRead(
          context,
          resource,
          this.#select(resource, options, (query) => reader.listLive(resource, query)),
        ),
      pages: (resource, options) => keepPages(context, resource, this.#pages(resource, options)),
    };
  }

  get<S extends Shape>(resource: Resource<S>, key: Key, options?: CallOptions): Promise<S["read"]> {
    if (this.#isOther) return this.live.get(resource, key as KeyOf<S>, options);
    const read = (own: Key): Promise<AnyObject> => this.#core.reader.get(resource, own, this.#reading(options));
    return keepRead(this.#context, resource, this.#within(resource, key, read));
  }

  find<S extends Shape>(resource: Resource<S>, key: Key, options?: CallOptions): Promise<S["read"] | undefined> {
    if (this.#isOther) return this.live.find(resource, key as KeyOf<S>, options);
    const read = (own: Key): Promise<AnyObject | undefined> =>
      this.#core.reader.find(resource, own, this.#reading(options));
    return keepRead(this.#context, resource, this.#within(resource, key, read));
  }

  list<S extends Shape>(resource: Resource<S>, options?: ListOptions<S>): Promise<readonly S["read"][]> {
    if (this.#isOther) return this.live.list(resource, options);
    const read = (query: ListQuery): Promise<readonly AnyObject[]> => this.#core.reader.list(resource, query);
    return keepRead(this.#context, resource, this.#select(resource, options, read));
  }

  async create<S extends Shape>(resource: Resource<S>, object: Created<S>, options?: WriteOptions): Promise<S["read"]> {
    const body = await this.#own(resource, object as { readonly metadata: Key });
    return this.#core.writer.create(resource, body, this.#context, this.#call(options));
  }

  async update<S extends Shape>(resource: Resource<S>, object: Updated<S>, options?: WriteOptions): Promise<S["read"]> {
    const call = this.#call(options);
    const own = await this.#own(resource, object);
    const { metadata } = own;
    const version = await this.#freed(resource, metadata, { ...call, resourceVersion: metadata.resourceVersion });
    const now = version === undefined ? own : { ...own, metadata: { ...metadata, resourceVersion: version } };
    return this.#core.writer.update(resource, now, this.#context, call);
  }

  async patch<S extends Shape>(
    resource: Resource<S>,
    key: Key,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<S["read"]> {
    const call = this.#call(options);
    const own = await this.#key(resource, key);
    const resourceVersion = patch.type === "json" ? undefined : patch.resourceVersion;
    const version = await this.#freed(resource, own, { ...call, resourceVersion });
    const now = version === undefined ? patch : ({ ...patch, resourceVersion: version } as Patch);
    return this.#core.writer.patch(resource, own, now, this.#context, call);
  }

  async apply<S extends Shape>(resource: Resource<S>, object: S["write"], options?: ApplyOptions): Promise<S["read"]> {
    const { reader, writer, applied, scope } = this.#core;
    const context = this.#context;
    const call = this.#call(options);
    const body = await this.#own(resource, object as Partial<AnyObject> & { readonly metadata: Key });
    const { apiVersion: _, kind: __, metadata, ...rest } = body;
    const { name, namespace, ...meta } = metadata;
    const desired = { ...rest, metadata: meta };
    const id = `apply:${groupKind(resource)}/${keyString(metadata)}`;
    const isOurs = call?.dryRun !== true && context.manager === undefined && context.headers === undefined;
    const cached = isOurs ? reader.cached(resource, { name, namespace }) : undefined;
    if (cached) {
      const fields = appliedFields(cached, scope.manager);
      if (applied.isApplied(id, cached, { desired, live: cached, fields })) return cached;
    }
    const answer = await writer.apply(resource, body, context, call);
    if (isOurs) {
      const fields = appliedFields(answer, scope.manager);
      applied.remember(id, answer, { desired, live: answer, fields });
    }
    return answer;
  }

  async delete(resource: Resource, key: Key, options?: DeleteOptions): Promise<void> {
    const own = await this.#key(resource, key);
    try {
      await this.#core.writer.delete(resource, own, this.#context, this.#call(options));
    } catch (error) {
      if (!isNotFound(error) || options?.preconditions !== undefined) throw error;
    }
  }

  async deleteAll<S extends Shape>(resource: Resource<S>, what: Everything<S>, options?: DeleteOptions): Promise<void> {
    const { reader, scope } = this.#core;
    const where = what as ListOptions<Shape> & { readonly allNamespaces?: boolean };
    if (where.allNamespaces && this.#defaults.namespace !== undefined)
      throw this.#outside(resource.kind, "all namespaces");
    const { namespaced } = scope.mapper.known(resource) ?? (await scope.mapper.resolve(resource));
    const { namespace } = where.allNamespaces ? where : await this.#key(resource, placeOf(where));
    sayWhere(resource, { ...what, namespace }, namespaced);
    const left = timeLeft(this.#call(options));
    const query = this.#query({ ...left(), ...where }, namespace);
    const everywhere = query.namespace === undefined && namespaced;
    // A collection is deleted per namespace, so "all namespaces" takes one request for each namespace that has objects.
    const namespaces = everywhere
      ? new Set((await reader.listLive(resource, query)).map((object) => object.metadata.namespace))
      : [query.namespace];
    for (const one of namespaces) await this.#deleteIn(resource, { ...query, namespace: one }, left);
  }

  async createOrUpdate<S extends Shape>(
    resource: Resource<S>,
    key: Key,
    mutate: (draft: Draft<S["write"]>) => void,
    options?: WriteOptions,
  ): Promise<"created" | "updated" | "unchanged"> {
    const left = timeLeft(this.#call(options));
    const own = (await this.#key(resource, key)) as KeyOf<S>;
    let existing = await this.#whole(resource).find(resource, own, left());
    for (let attempt = 1; ; attempt++) {
      try {
        if (existing === undefined) {
          const { name, namespace } = own;
          const metadata = namespace === undefined ? { name } : { name, namespace };
          const draft = { apiVersion: resource.apiVersion, kind: resource.kind, metadata };
          mutate(draft as unknown as Draft<S["write"]>);
          sameName(resource, own, draft.metadata);
          await this.create(resource, draft, left());
          return "created";
        }
        const changed = edit(existing, mutate as (draft: Draft<S["read"]>) => void);
        sameName(resource, own, changed.metadata);
        if (sameJson(changed, existing)) return "unchanged";
        await this.update(resource, changed, left());
        return "updated";
      } catch (error) {
        const isRace = isConflict(error) || isAlreadyExists(error) || (existing !== undefined && isNotFound(error));
        if (!isRace || attempt === ATTEMPTS) throw error;
        existing = await this.live.find(resource, own, left());
      }
    }
  }

  async edit<S extends Shape>(
    resource: Resource<S>,
    key: Key,
    mutate: (draft: Draft<Updated<S>>) => void,
    options?: WriteOptions,
  ): Promise<S["read"]> {
    const left = timeLeft(this.#call(options));
    const own = (await this.#key(resource, key)) as KeyOf<S>;
    let object: S["read"] = await this.#whole(resource).get(resource, own, left());
    for (let attempt = 1; ; attempt++) {
      const changed = edit(object, mutate as unknown as (draft: Draft<AnyObject>) => void);
      sameName(resource, own, changed.metadata);
      if (sameJson(changed, object)) return object;
      try {
        return await this.update(resource, changed, left());
      } catch (error) {
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
        object = await this.live.get(resource, own, left());
      }
    }
  }

  subresource(name: "scale"): ScaleSubresource;
  subresource<S extends Shape = Shape>(name: string): Subresource<S>;
  subresource(name: string): ScaleSubresource & Subresource<Shape> {
    const { reader, writer } = this.#core;
    const context = this.#context;
    const at = (options: WriteOptions | undefined) => ({ ...this.#call(options), subresource: name });
    const patch = (resource: Resource, key: Key, body: Patch, options?: WriteOptions): Promise<AnyObject> =>
      this.#within(resource, key, (own) => writer.patch(resource, own, body, context, at(options)));
    return {
      get: (resource: Resource, key: Key, options?: CallOptions) => {
        const read = (own: Key): Promise<AnyObject> =>
          reader.getLive(resource, own, { ...this.#reading(options), subresource: name });
        return keepRead(context, resource, this.#within(resource, key, read)) as Promise<AnyObject & Scale>;
      },
      update: (resource, key, body, options) =>
        this.#within(resource, key, (own) => {
          const object = { ...body, metadata: { ...(body as Partial<AnyObject>).metadata, ...own } };
          return writer.update(resource, object as unknown as AnyObject, context, at(options));
        }),
      patch,
      create: (resource, key, body, options) =>
        this.#within(resource, key, (own) =>
          writer.createSubresource(resource, own, { name, body }, { context, options: this.#call(options) }),
        ),
      set: async (resource, key, replicas, options) =>
        (await patch(resource, key, { type: "merge", body: { spec: { replicas } } }, options)) as unknown as Scale,
    };
  }

  async evict(pod: Key, options?: Omit<DeleteOptions, "propagation">): Promise<void> {
    const key = this.#inNamespace(Pod.kind, pod);
    const { gracePeriodSeconds, preconditions, ...call } = this.#call(options);
    const body = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: key,
      deleteOptions: { gracePeriodSeconds, preconditions },
    };
    const { writer } = this.#core;
    await writer.createSubresource(Pod, key, { name: "eviction", body }, { context: this.#context, options: call });
  }

  logs(pod: Key, options?: LogOptions): AsyncIterable<string> {
    const { headers, requestSignal } = this.#context;
    const call = { ...this.#call(options), headers, stop: requestSignal };
    return podLog(this.#core.scope, this.#inNamespace(Pod.kind, pod), call);
  }

  exec(pod: Key, command: readonly string[], options?: ExecOptions): Execution {
    if (this.#defaults.dryRun === true) throw new TypeError("Cannot exec: a dry-run client changes nothing");
    const { gate, headers, requestSignal } = this.#context;
    const call = { ...this.#call(options), command, gate, headers, stop: requestSignal };
    return podExec(this.#core.scope, this.#inNamespace(Pod.kind, pod), call);
  }

  watch<S extends Shape>(
    resource: Resource<S>,
    options?: ListOptions<S> & { readonly resourceVersion?: string | undefined },
  ): AsyncIterable<WatchEvent<S["read"]>> {
    const { requestSignal } = this.#context;
    const query = async (): Promise<WatchQuery> => {
      const { namespace } = await this.#key(resource, placeOf(options));
      const { resourceVersion } = options ?? {};
      return { ...this.#query(options, namespace), resourceVersion, stop: requestSignal };
    };
    return keepEvents(this.#context, resource, watchEvents(this.#core.scope, resource, query));
  }

  with<const O extends ClientOptions>(
    options: O,
  ): Client<O extends { readonly namespace: string } ? string : undefined> {
    const { namespace = this.#defaults.namespace, timeout = this.#defaults.timeout } = options;
    if (this.#defaults.namespace !== undefined && namespace !== this.#defaults.namespace) {
      throw this.#outside("a client", `namespace '${namespace}'`);
    }
    const dryRun = options.dryRun === true || this.#defaults.dryRun === true;
    const signal = anySignal(this.#defaults.signal, options.signal);
    const client = new KubeClient(this.#core, actingAs(this.#context, options), { namespace, timeout, dryRun, signal });
    return client as Client<never>;
  }

  async #deleteIn(resource: Resource, query: ListQuery, left: () => DeleteOptions): Promise<void> {
    const { reader, writer, scope } = this.#core;
    const context = this.#context;
    const options = left();
    const where = { ...options, namespace: query.namespace, labels: query.labels };
    const deleted = await writer.deleteCollection(resource, where, context);
    if (deleted === undefined || options.dryRun === true || scope.informers.informersOf(resource).length === 0) return;
    const { origin } = context;
    const { propagation } = options;
    const lingers =
      propagation === "Foreground" ||
      propagation === "Orphan" ||
      deleted.some(({ metadata }) => metadata.finalizers !== undefined || metadata.deletionTimestamp !== undefined) ||
      (resource.kind === "Pod" && resource.group === "");
    const remaining = new Map<string, AnyObject>();
    // The response shows objects that remain until their finalizers or grace period end as they were before the
    // deletion.
    if (lingers) {
      const now = await reader.listLive(resource, { ...query, timeout: left().timeout });
      for (const object of now) remaining.set(object.metadata.uid, object);
    }
    for (const { metadata } of deleted) {
      const object = remaining.get(metadata.uid);
      const news = object === undefined ? { deleted: { uid: metadata.uid }, origin } : { object, origin };
      writer.learn(resource, keyString(metadata), news);
    }
  }

  /**
   * Separates fields that `children.sync` created from fields that the author writes by hand. Both belong to updates,
   * so before such a write the former become applied; the next sync then does not remove the author's fields.
   *
   * @returns the new resource version, for a write that names the previous one; otherwise `undefined`.
   */
  async #freed(resource: Resource, key: Key, write: HandWrite): Promise<string | undefined> {
    const { reader, scope } = this.#core;
    const { manager, headers } = this.#context;
    if (manager !== undefined || headers !== undefined || write.dryRun === true) return undefined;
    const object = reader.cached(resource, key);
    if (!object || childUpdates(object, scope.manager) === undefined) return undefined;
    const move = { from: [], to: scope.manager, asApplied: true };
    const now = await handOver(this.#core, this.#context, { resource, object, move });
    const { resourceVersion } = object.metadata;
    return write.resourceVersion === resourceVersion ? now?.metadata.resourceVersion : undefined;
  }

  /** Reads objects that are written back from the server: a write would remove the fields that a cache has dropped. */
  #whole(resource: Resource): Pick<LiveReader, "get" | "find"> {
    return this.#core.reader.isReduced(resource) ? this.live : this;
  }

  /** Whether requests are impersonated: another user may see less than the caches, or more. */
  get #isOther(): boolean {
    return this.#context.headers !== undefined;
  }

  /** Adds the client's defaults to the options of a call. */
  #call<T extends WriteOptions>(options: T | undefined): T {
    if (this.#defaults === NO_DEFAULTS) return options ?? (NO_DEFAULTS as T);
    const { dryRun } = this.#defaults;
    const { timeout = this.#defaults.timeout, signal } = options ?? {};
    const call = { ...options, timeout, signal: anySignal(this.#defaults.signal, signal) } as T;
    return dryRun === true ? { ...call, dryRun } : call;
  }

  #reading(options: CallOptions | undefined): ReadOptions {
    const context = this.#context;
    const { headers, record } = context;
    const call = this.#call(options);
    if (record !== undefined) return { ...call, headers, context };
    return headers === undefined ? call : { ...call, headers };
  }

  /** Converts the author's options to those of the reader. */
  #query(options: Selection = {}, namespace: string | undefined): ListQuery {
    const { labels, index, sort, ...rest } = options;
    return {
      ...this.#reading(rest),
      namespace,
      labels: typeof labels === "object" ? labelSelector(labels).toString() : labels,
      index: indexedBy(index),
      sort,
    };
  }

  #select<T>(resource: Resource, options: Selection | undefined, read: (query: ListQuery) => Promise<T>): Promise<T> {
    return this.#within(resource, placeOf(options), ({ namespace }) => read(this.#query(options, namespace)));
  }

  async *#pages(resource: Resource, options: Selection | undefined): AsyncGenerator<readonly AnyObject[]> {
    const { namespace } = await this.#key(resource, placeOf(options));
    yield* this.#core.reader.pages(resource, this.#query(options, namespace), { size: options?.limit });
  }

  /**
   * Calls with the key in the client's namespace; at once if the client has none, because a cache answers most reads.
   */
  #within<T>(resource: Resource, key: Key, call: (key: Key) => Promise<T>): Promise<T> {
    return this.#defaults.namespace === undefined ? call(key) : this.#key(resource, key).then(call);
  }

  async #key(resource: Resource, key: Key): Promise<Key> {
    if (this.#defaults.namespace === undefined) return key;
    const { mapper } = this.#core.scope;
    const { namespaced } = mapper.known(resource) ?? (await mapper.resolve(resource));
    return namespaced ? this.#inNamespace(resource.kind, key) : key;
  }

  /** The object with the client's namespace, unless it has it already. */
  async #own<O extends { readonly metadata: Key }>(resource: Resource, object: O): Promise<O> {
    const { metadata } = object;
    const { namespace } = await this.#key(resource, metadata);
    return namespace === metadata.namespace ? object : { ...object, metadata: { ...metadata, namespace } };
  }

  /** Fills the client's namespace in. @throws TypeError for a key of another namespace. */
  #inNamespace(kind: string, key: Key): Key {
    const { namespace } = this.#defaults;
    if (namespace === undefined || key.namespace === namespace) return key;
    if (key.namespace === undefined) return { ...key, namespace };
    throw this.#outside(kind, `namespace '${key.namespace}'`);
  }

  #outside(what: string, where: string): TypeError {
    const { namespace } = this.#defaults;
    return new TypeError(
      `Cannot use ${what} of ${where}: this client is for namespace '${namespace}'; leave the namespace out`,
    );
  }
}

/** The defaults of every call of a client; its user and its field manager are in its context. */
type Defaults = Pick<ClientOptions, "namespace" | "timeout" | "signal" | "dryRun">;

const NO_DEFAULTS: Defaults = Object.freeze({});

/** The options of a list, of a kind of any scope. */
type Selection = Omit<ListOptions<Shape>, "namespace"> & { readonly namespace?: string | undefined };

/** A key with nothing but the namespace of a list. */
function placeOf(options: Selection | undefined): Key {
  return { name: "", namespace: options?.namespace };
}

/** Makes the context of the same run that impersonates a user, or writes with another field manager. */
function actingAs(context: RequestContext, { manager = context.manager, as }: ClientOptions): RequestContext {
  if (manager === context.manager && as === undefined) return context;
  const { gate, origin, dryRun } = context;
  const headers = as === undefined ? context.headers : impersonation(as);
  return {
    gate,
    origin,
    dryRun,
    record: context.record,
    get requestSignal() {
      return context.requestSignal; // read on each use, because it is created with the run's signal
    },
    keep: (resource, object) => context.keep?.(resource, object),
    headers,
    manager,
  };
}

function impersonation({ user, groups = [], uid }: NonNullable<ClientOptions["as"]>): HeaderValues {
  return {
    "Impersonate-User": user,
    ...(groups.length > 0 && { "Impersonate-Group": groups }),
    ...(uid !== undefined && { "Impersonate-Uid": uid }),
  };
}

interface HandWrite extends WriteOptions {
  readonly resourceVersion: string | undefined;
}

/** Checks at run time what the types demand: an undefined variable must not select everything. */
function sayWhere({ kind }: Resource, what: object, namespaced: boolean): void {
  const { namespace, allNamespaces, all, labels } = what as {
    readonly [K in "namespace" | "allNamespaces" | "all" | "labels"]?: unknown;
  };
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot delete all of ${kind}: ${why}`);
  };
  if (namespaced && !namespace && allNamespaces !== true) refuse("give a `namespace`, or `allNamespaces: true`");
  if (!namespaced && namespace !== undefined) refuse("it is cluster-scoped, so leave `namespace` out");
  if (!namespaced && labels === undefined && all !== true && allNamespaces !== true) {
    refuse("give `labels`, or `all: true`");
  }
  const isEmpty = typeof labels === "object" ? Object.keys(labels!).length === 0 : labels === "";
  if (isEmpty) refuse("an empty selector selects everything; leave `labels` out if that is meant");
}

function sameName(resource: Resource, key: Key, metadata: Key): void {
  if (metadata.name !== key.name || (metadata.namespace ?? key.namespace) !== key.namespace) {
    throw new TypeError(
      `Cannot change ${resource.kind} '${key.name}': the function must not change its name or namespace`,
    );
  }
}
