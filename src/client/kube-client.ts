/** The client of one run: reads through `ObjectReader`, writes through `ObjectWriter`, and combines both. */
import { isAlreadyExists, isConflict, isNotFound } from "../kube/errors/api-error.ts";
import { Pod } from "../resource/builtin/core.ts";
import type { Scale } from "../resource/builtin/autoscaling.ts";
import { edit } from "../resource/edit.ts";
import { type AnyObject, groupKind, type Resource, type Shape } from "../resource/handle.ts";
import { sameJson } from "../resource/json.ts";
import type { Draft, Key } from "../resource/meta.ts";
import { keyString } from "../resource/meta.ts";
import { labelSelector } from "../resource/selector.ts";
import { actingAs } from "./acting-as.ts";
import { AdaptedClient } from "./adapted-client.ts";
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
import { kept, keptEvents, keptPages } from "./kept-reads.ts";
import { appliedFields } from "./managed-fields.ts";
import { type ListQuery, ObjectReader } from "./object-reader.ts";
import { ObjectWriter } from "./object-writer.ts";
import { podExec } from "./pod-exec.ts";
import { podLog } from "./pod-log.ts";
import type { ClientScope, RequestContext } from "./client-scope.ts";
import { timeLeft } from "./time-left.ts";
import { watchEvents } from "./watch-events.ts";

const ATTEMPTS = 5;

/** The reader and the writer that all clients of a controller use. */
export interface ClientCore {
  readonly scope: ClientScope;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  /** Remembers what these clients and `children` have applied. */
  readonly applied: AppliedMemory;
}

/** @param applied what an earlier version of the controller remembers. @default nothing */
export function clientCore(scope: ClientScope, applied: AppliedMemory = new AppliedMemory()): ClientCore {
  return { scope, reader: new ObjectReader(scope), writer: new ObjectWriter(scope), applied };
}

export class KubeClient implements Client {
  readonly #core: ClientCore;
  readonly #context: RequestContext;

  constructor(core: ClientCore, context: RequestContext) {
    this.#core = core;
    this.#context = context;
  }

  get live(): LiveReader {
    const { reader } = this.#core;
    const context = this.#context;
    return {
      get: (resource, key, options) => kept(context, resource, reader.getLive(resource, key, this.#reading(options))),
      find: (resource, key, options) => kept(context, resource, reader.findLive(resource, key, this.#reading(options))),
      list: (resource, options) => kept(context, resource, reader.listLive(resource, this.#query(options))),
      pages: (resource, options) =>
        keptPages(context, resource, reader.pages(resource, this.#query(options), { size: options?.limit })),
    };
  }

  get<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<S["read"]> {
    if (this.#isOther) return this.live.get(resource, key, options);
    return kept(this.#context, resource, this.#core.reader.get(resource, key, options));
  }

  find<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<S["read"] | undefined> {
    if (this.#isOther) return this.live.find(resource, key, options);
    return kept(this.#context, resource, this.#core.reader.find(resource, key, options));
  }

  list<S extends Shape>(resource: Resource<S>, options?: ListOptions<S>): Promise<readonly S["read"][]> {
    if (this.#isOther) return this.live.list(resource, options);
    return kept(this.#context, resource, this.#core.reader.list(resource, this.#query(options)));
  }

  create<S extends Shape>(resource: Resource<S>, object: Created<S>, options?: WriteOptions): Promise<S["read"]> {
    return this.#core.writer.create(resource, object as { metadata: Key }, this.#context, options);
  }

  async update<S extends Shape>(resource: Resource<S>, object: Updated<S>, options?: WriteOptions): Promise<S["read"]> {
    const { metadata } = object;
    const version = await this.#freed(resource, metadata, { ...options, resourceVersion: metadata.resourceVersion });
    const now = version === undefined ? object : { ...object, metadata: { ...metadata, resourceVersion: version } };
    return this.#core.writer.update(resource, now, this.#context, options);
  }

  async patch<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<S["read"]> {
    const resourceVersion = patch.type === "json" ? undefined : patch.resourceVersion;
    const version = await this.#freed(resource, key, { ...options, resourceVersion });
    const now = version === undefined ? patch : ({ ...patch, resourceVersion: version } as Patch);
    return this.#core.writer.patch(resource, key, now, this.#context, options);
  }

  async apply<S extends Shape>(resource: Resource<S>, object: S["write"], options?: ApplyOptions): Promise<S["read"]> {
    const { reader, writer, applied, scope } = this.#core;
    const context = this.#context;
    const { apiVersion: _, kind: __, metadata, ...rest } = object as Partial<AnyObject> & { readonly metadata: Key };
    const { name, namespace, ...meta } = metadata;
    const desired = { ...rest, metadata: meta };
    const id = `apply:${groupKind(resource)}/${keyString(metadata)}`;
    const isOurs = options?.dryRun !== true && context.manager === undefined && context.headers === undefined;
    const cached = isOurs ? reader.cached(resource, { name, namespace }) : undefined;
    if (cached) {
      const fields = appliedFields(cached, scope.manager);
      if (applied.isApplied(id, cached, { desired, live: cached, fields })) return cached;
    }
    const answer = await writer.apply(resource, object as { metadata: Key }, context, options);
    if (isOurs) {
      const fields = appliedFields(answer, scope.manager);
      applied.remember(id, answer, { desired, live: answer, fields });
    }
    return answer;
  }

  async delete<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options: DeleteOptions = {}): Promise<void> {
    try {
      await this.#core.writer.delete(resource, key, this.#context, options);
    } catch (error) {
      if (!isNotFound(error) || options.preconditions !== undefined) throw error;
    }
  }

  async deleteAll<S extends Shape>(
    resource: Resource<S>,
    what: Everything<S>,
    options: DeleteOptions = {},
  ): Promise<void> {
    const { reader, scope } = this.#core;
    const { namespaced } = scope.mapper.known(resource) ?? (await scope.mapper.resolve(resource));
    sayWhere(resource, what, namespaced);
    const left = timeLeft(options);
    const query = this.#query({ ...options, ...(what as ListOptions<Shape>) });
    const everywhere = query.namespace === undefined && namespaced;
    // A collection is deleted per namespace, so "all namespaces" takes one request for each namespace that has objects.
    const namespaces = everywhere
      ? new Set((await reader.listLive(resource, query)).map((object) => object.metadata.namespace))
      : [query.namespace];
    for (const namespace of namespaces) await this.#deleteIn(resource, { ...query, namespace }, left);
  }

  async createOrUpdate<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    mutate: (draft: Draft<S["write"]>) => void,
    options: WriteOptions = {},
  ): Promise<"created" | "updated" | "unchanged"> {
    const left = timeLeft(options);
    let existing = await this.#whole(resource).find(resource, key, left());
    for (let attempt = 1; ; attempt++) {
      try {
        if (existing === undefined) {
          const { name, namespace } = key;
          const metadata = namespace === undefined ? { name } : { name, namespace };
          const draft = { apiVersion: resource.apiVersion, kind: resource.kind, metadata };
          mutate(draft as unknown as Draft<S["write"]>);
          sameName(resource, key, draft.metadata);
          await this.create(resource, draft, left());
          return "created";
        }
        const changed = edit(existing, mutate as (draft: Draft<S["read"]>) => void);
        sameName(resource, key, changed.metadata);
        if (sameJson(changed, existing)) return "unchanged";
        await this.update(resource, changed, left());
        return "updated";
      } catch (error) {
        const isRace = isConflict(error) || isAlreadyExists(error) || (existing !== undefined && isNotFound(error));
        if (!isRace || attempt === ATTEMPTS) throw error;
        existing = await this.live.find(resource, key, left());
      }
    }
  }

  async edit<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    mutate: (draft: Draft<Updated<S>>) => void,
    options: WriteOptions = {},
  ): Promise<S["read"]> {
    const left = timeLeft(options);
    let object: S["read"] = await this.#whole(resource).get(resource, key, left());
    for (let attempt = 1; ; attempt++) {
      const changed = edit(object, mutate as unknown as (draft: Draft<AnyObject>) => void);
      sameName(resource, key, changed.metadata);
      if (sameJson(changed, object)) return object;
      try {
        return await this.update(resource, changed, left());
      } catch (error) {
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
        object = await this.live.get(resource, key, left());
      }
    }
  }

  subresource(name: "scale"): ScaleSubresource;
  subresource<S extends Shape = Shape>(name: string): Subresource<S>;
  subresource(name: string): ScaleSubresource & Subresource<Shape> {
    const { reader, writer } = this.#core;
    const context = this.#context;
    return {
      get: (resource: Resource, key: Key, options?: CallOptions) => {
        const read = reader.getLive(resource, key, { ...this.#reading(options), subresource: name });
        return kept(context, resource, read) as Promise<AnyObject & Scale>;
      },
      update: (resource, key, body, options) => {
        const object = { ...body, metadata: { ...(body as Partial<AnyObject>).metadata, ...key } };
        return writer.update(resource, object as unknown as AnyObject, context, { ...options, subresource: name });
      },
      patch: (resource, key, patch, options) =>
        writer.patch(resource, key, patch, context, { ...options, subresource: name }),
      create: (resource, key, body, options) =>
        writer.createSubresource(resource, key, { name, body }, { context, options }),
      set: async (resource, key, replicas, options) => {
        const patch: Patch = { type: "merge", body: { spec: { replicas } } };
        return (await writer.patch(resource, key, patch, context, {
          ...options,
          subresource: name,
        })) as unknown as Scale;
      },
    };
  }

  async evict(pod: Key, options: Omit<DeleteOptions, "propagation"> = {}): Promise<void> {
    const { gracePeriodSeconds, preconditions, ...call } = options;
    const body = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: pod,
      deleteOptions: { gracePeriodSeconds, preconditions },
    };
    const { writer } = this.#core;
    await writer.createSubresource(Pod, pod, { name: "eviction", body }, { context: this.#context, options: call });
  }

  logs(pod: Key, options?: LogOptions): AsyncIterable<string> {
    return podLog(this.#core.scope, pod, {
      ...options,
      headers: this.#context.headers,
      stop: this.#context.requestSignal,
    });
  }

  exec(pod: Key, command: readonly string[], options?: ExecOptions): Execution {
    const { gate, headers, requestSignal } = this.#context;
    return podExec(this.#core.scope, pod, { ...options, command, gate, headers, stop: requestSignal });
  }

  watch<S extends Shape>(
    resource: Resource<S>,
    options?: ListOptions<S> & { readonly resourceVersion?: string | undefined },
  ): AsyncIterable<WatchEvent<S["read"]>> {
    const { resourceVersion } = options ?? {};
    const query = { ...this.#query(options), resourceVersion, stop: this.#context.requestSignal };
    return keptEvents(this.#context, resource, watchEvents(this.#core.scope, resource, query));
  }

  with<const O extends ClientOptions>(
    options: O,
  ): Client<O extends { readonly namespace: string } ? string : undefined> {
    const { manager, as } = options;
    const inner =
      manager === undefined && as === undefined ? this : new KubeClient(this.#core, actingAs(this.#context, options));
    return new AdaptedClient(inner, options, this.#core.scope.mapper) as Client<never>;
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
    const kept = new Map<string, AnyObject>();
    // The response shows objects that linger as they were before the deletion.
    if (lingers) {
      const now = await reader.listLive(resource, { ...query, timeout: left().timeout });
      for (const object of now) kept.set(object.metadata.uid, object);
    }
    for (const { metadata } of deleted) {
      const object = kept.get(metadata.uid);
      const news = object === undefined ? { deleted: { uid: metadata.uid }, origin } : { object, origin };
      writer.learn(resource, keyString(metadata), news);
    }
  }

  /**
   * Separates what `children.sync` created from what the author writes by hand: both are owned by updates, so before such a
   * write the former becomes applied, and the next sync does not remove what the author wrote.
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

  /** Reads objects that are written back: what a cache has dropped of one would be removed on the server. */
  #whole(resource: Resource): Pick<LiveReader, "get" | "find"> {
    return this.#core.reader.isReduced(resource) ? this.live : this;
  }

  /** Whether requests are impersonated: another user may see less than the caches, or more. */
  get #isOther(): boolean {
    return this.#context.headers !== undefined;
  }

  #reading(options: CallOptions | undefined): CallOptions & { readonly headers?: RequestContext["headers"] } {
    const { headers } = this.#context;
    return headers === undefined ? (options ?? {}) : { ...options, headers };
  }

  /** Converts the author's options to those of the reader. */
  #query(options: Omit<ListOptions<Shape>, "namespace"> & { namespace?: string | undefined } = {}): ListQuery {
    const { labels, index, sort, ...rest } = options;
    return {
      ...this.#reading(rest),
      labels: typeof labels === "object" ? labelSelector(labels).toString() : labels,
      index: indexedBy(index),
      sort,
    };
  }
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
