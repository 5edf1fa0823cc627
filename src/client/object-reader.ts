/** Reads objects: from the shared informers inside their set, from the API server otherwise. */
import { isStub } from "../cache/object-transformer.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { Indexer } from "../cache/store.ts";
import { collectionPath, objectPath } from "../kube/api/mapper.ts";
import type { HeaderValues } from "../kube/config/cluster-config.ts";
import { ApiError, isNotFound } from "../kube/errors/api-error.ts";
import { type AnyObject, groupKind, readsMetadata, type Resource } from "../resource/handle.ts";
import { type Key, keyString } from "../resource/meta.ts";
import { type LabelSelector, parseLabelSelector } from "../resource/selector.ts";
import type { ClientScope, RequestContext } from "./client-scope.ts";
import type { CallOptions } from "./client.ts";
import { type DefinedIndex, type IndexedBy, isIndexed } from "./field-index.ts";
import { recordedRead } from "./recorded-calls.ts";
import { timeLeft } from "./time-left.ts";
import { explained, reportUndeclared } from "./undeclared-call.ts";

/** How a read is sent. */
export interface ReadOptions extends CallOptions {
  readonly headers?: HeaderValues | undefined;
  /** The run whose record notes the read. @default none */
  readonly context?: Pick<RequestContext, "record" | "origin"> | undefined;
}

/** The restrictions of a list. */
export interface ListQuery extends ReadOptions {
  readonly namespace?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly index?: IndexedBy | undefined;
  readonly sort?: ((a: AnyObject, b: AnyObject) => number) | undefined;
  readonly limit?: number | undefined;
}

export class ObjectReader {
  readonly #scope: ClientScope;
  readonly #indexes = new DisposableStack();

  constructor(scope: ClientScope) {
    this.#scope = scope;
  }

  /** The cached object; `null` when the cache knows that there is none; `undefined` when only the server can tell. */
  cached(resource: Resource, key: Key): AnyObject | null | undefined {
    const informers = this.#scope.declared.get(groupKind(resource));
    const cacheKey = informers && this.#keyOf(resource, key);
    if (cacheKey === undefined) return undefined;
    const name = keyString(cacheKey);
    for (const informer of informers!) {
      if (!informer.hasSynced || !isAsWhole(informer, resource)) continue;
      const object = informer.store.get(name);
      if (object !== undefined) {
        if (!isStub(object)) return object;
      } else if (isWhole(informer, cacheKey.namespace)) {
        return null;
      }
    }
    return undefined;
  }

  /** Whether cached objects differ from the server's: an object that is written back must be read from the server. */
  isReduced(resource: Resource): boolean {
    return this.#scope.declared.get(groupKind(resource))?.some((informer) => informer.isReduced) === true;
  }

  async find(resource: Resource, key: Key, options: ReadOptions = {}): Promise<AnyObject | undefined> {
    const cached = this.#read(resource, key, options);
    return cached === undefined ? this.findLive(resource, key, options) : (cached ?? undefined);
  }

  async get(resource: Resource, key: Key, options: ReadOptions = {}): Promise<AnyObject> {
    const cached = this.#read(resource, key, options);
    if (cached === null) throw notFound(resource, key);
    return cached ?? this.getLive(resource, key, options);
  }

  async findLive(resource: Resource, key: Key, options: ReadOptions = {}): Promise<AnyObject | undefined> {
    try {
      return await this.getLive(resource, key, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async getLive(
    resource: Resource,
    key: Key,
    options: ReadOptions & { subresource?: string } = {},
  ): Promise<AnyObject> {
    const { mapper, transport } = this.#scope;
    const call = { resource, verbs: ["get"], subresource: options.subresource, headers: options.headers };
    reportUndeclared(this.#scope, call);
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, options.signal));
    try {
      const answer = transport.request<AnyObject>({
        method: "GET",
        path: objectPath(mapping, key, options.subresource),
        ...sendingOf(options),
      });
      const { context } = options;
      return await (context?.record === undefined ? answer : recordedRead(context, { resource, key, answer }));
    } catch (error) {
      throw explained(error, this.#scope, call);
    }
  }

  async list(resource: Resource, query: ListQuery = {}): Promise<readonly AnyObject[]> {
    const cached = this.#cachedList(resource, query);
    if (cached === undefined) return this.listLive(resource, query);
    query.context?.record?.read("list", resource, { key: query.namespace, from: "cache" });
    return cached;
  }

  async listLive(resource: Resource, query: ListQuery = {}): Promise<readonly AnyObject[]> {
    const { index, sort, limit } = query;
    // The server knows neither the index nor the order, so a limit cannot be left to it.
    const isFirst = limit !== undefined && index === undefined && sort === undefined;
    const items: AnyObject[] = [];
    const left = timeLeft(sendingOf(query));
    for await (const page of this.pages(resource, query, { size: isFirst ? limit : undefined, sending: left })) {
      items.push(...(index === undefined ? page : page.filter((object) => isIndexed(index, object))));
      if (isFirst && items.length >= limit) break;
    }
    return inOrder(items, query);
  }

  /** Lists page by page. */
  async *pages(resource: Resource, query: ListQuery, by: Paging = {}): AsyncGenerator<readonly AnyObject[]> {
    const { size = PAGE_SIZE, sending = () => sendingOf(query) } = by;
    const { mapper, transport } = this.#scope;
    const call = { resource, verbs: ["list"], headers: query.headers };
    reportUndeclared(this.#scope, call);
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, query.signal));
    const path = collectionPath(mapping, query.namespace);
    const { labels, fields } = query;
    let next: string | undefined;
    do {
      const params = new URLSearchParams({ limit: String(size) });
      if (labels) params.set("labelSelector", labels);
      if (fields) params.set("fieldSelector", fields);
      if (next !== undefined) params.set("continue", next);
      const answer = transport.request<ListPage>({ method: "GET", path, query: params, traffic: "list", ...sending() });
      const { context, namespace } = query;
      const noted = context?.record === undefined ? answer : recordedRead(context, { resource, namespace, answer });
      const page = await noted.catch((error: unknown) => {
        throw explained(error, this.#scope, call);
      });
      const { apiVersion, kind } = mapping;
      const items = (page.items ?? []) as { apiVersion?: string; kind?: string }[];
      for (const item of items) {
        item.apiVersion ??= apiVersion; // items of built-in lists have none
        item.kind ??= kind;
      }
      yield items as unknown as readonly AnyObject[];
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
  }

  /** Does what `cached` does, and notes the read in the run's record if the cache answers it. */
  #read(resource: Resource, key: Key, { context }: ReadOptions): AnyObject | null | undefined {
    const cached = this.cached(resource, key);
    if (context?.record === undefined || cached === undefined) return cached;
    const { resourceVersion } = cached?.metadata ?? {};
    context.record.read("get", resource, { key: keyString(key), from: "cache", resourceVersion });
    return cached;
  }

  #cachedList(resource: Resource, query: ListQuery): readonly AnyObject[] | undefined {
    if (query.fields !== undefined) return undefined; // only the server knows the selectable fields of a kind
    const informers = this.#scope.declared.get(groupKind(resource));
    const informer = informers?.find(
      (candidate) => candidate.hasSynced && isAsWhole(candidate, resource) && includes(candidate, query),
    );
    if (informer === undefined) return undefined;
    const selector: LabelSelector | undefined =
      query.labels === undefined || query.labels === informer.labels ? undefined : parseLabelSelector(query.labels);
    const { index, sort, limit, namespace } = query;
    const candidates = index === undefined ? informer.store.values() : this.#indexed(informer, index);
    if (candidates === undefined) return undefined;
    const objects: AnyObject[] = [];
    for (const object of candidates) {
      if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
      if (isStub(object)) return undefined; // its labels and body are known only to the server
      if (selector !== undefined && !selector.matches(object.metadata.labels)) continue;
      objects.push(object);
      if (sort === undefined && objects.length === limit) break;
    }
    return inOrder(objects, query);
  }

  /** Keeps an index in all caches of a kind from now on. */
  keepIndex({ resource, ...index }: DefinedIndex): void {
    for (const { store } of this.#scope.declared.get(groupKind(resource)) ?? []) this.#addIndex(store, index);
  }

  /** Adds the index on first use; `undefined` when some objects are not cached whole. */
  #indexed({ store }: SharedInformer, { id, of, value }: IndexedBy): readonly AnyObject[] | undefined {
    this.#addIndex(store, { id, of });
    for (const object of store.byIndex(id, THROWN)) of(object);
    return store.byIndex(id, STUBS).length > 0 ? undefined : store.byIndex(id, value);
  }

  #addIndex(store: Indexer, { id, of }: Pick<IndexedBy, "id" | "of">): void {
    if (!store.hasIndex(id)) {
      store.addIndex(id, (object) => {
        if (isStub(object)) return STUBS;
        try {
          return of(object);
        } catch {
          return THROWN; // the cache keeps working, and the caller of the list gets the error
        }
      });
      this.#indexes.defer(() => store.removeIndex(id));
    }
  }

  /** Removes the indexes from the caches. */
  [Symbol.dispose](): void {
    this.#indexes.dispose();
  }

  /**
   * The key in the form of the caches. Without its namespace a key fits no object, and the object would seem to be
   * absent.
   */
  #keyOf(resource: Resource, key: Key): Key | undefined {
    const { name, namespace } = key;
    if (!name) return undefined;
    if (namespace && resource.scope === "Namespaced") return key; // the common case
    const namespaced = this.#scope.mapper.known(resource)?.namespaced ?? resource.scope !== "Cluster";
    if (namespaced) return namespace ? key : undefined;
    return namespace ? { name } : key;
  }
}

/** The size of the pages of a list, and the options of their requests. */
interface Paging {
  /** The most objects of a page. @default 500 */
  readonly size?: number | undefined;
  /** Returns the options of each request. @default those of the query */
  readonly sending?: (() => ReadOptions) | undefined;
}

interface ListPage {
  readonly metadata: { readonly continue?: string | undefined; readonly resourceVersion?: string | undefined };
  readonly items: readonly unknown[] | null;
}

/** The index values of stubs, and of objects for which the author's function threw. */
const STUBS = "\0stub";
const THROWN = "\0thrown";

/** The default of client-go. */
const PAGE_SIZE = 500;

function sendingOf({ signal, timeout, headers }: ReadOptions): ReadOptions {
  return { signal, timeout, headers };
}

function inOrder(objects: AnyObject[], { sort, limit }: ListQuery): readonly AnyObject[] {
  if (sort !== undefined) objects.sort(sort);
  return limit !== undefined && objects.length > limit ? objects.slice(0, limit) : objects;
}

/** Whether the informer has the objects in the version of the handle, with all the fields that the handle promises. */
function isAsWhole(informer: SharedInformer, resource: Resource): boolean {
  if (informer.resource.apiVersion !== resource.apiVersion) return false;
  return !informer.isMetadataOnly || readsMetadata(resource);
}

/** Whether the informer has every object of the namespace, so that one that it lacks does not exist. */
function isWhole(informer: SharedInformer, namespace: string | undefined): boolean {
  return informer.labels === undefined && informer.fields === undefined && informer.seesAll(namespace);
}

/** Whether the informer's set includes everything that the query asks for. */
function includes(informer: SharedInformer, query: ListQuery): boolean {
  if (informer.fields !== undefined || !informer.seesAll(query.namespace)) return false;
  if (informer.labels === undefined || informer.labels === query.labels) return true;
  return query.labels !== undefined && informer.labels === parseLabelSelector(query.labels).toString();
}

function notFound(resource: Resource, key: Key): ApiError {
  const plural = resource.plural ?? resource.kind.toLowerCase();
  const path = objectPath({ ...resource, plural, namespaced: key.namespace !== undefined, subresources: [] }, key);
  return new ApiError({
    method: "GET",
    path,
    status: {
      code: 404,
      reason: "NotFound",
      message: `${plural}${resource.group && `.${resource.group}`} "${key.name}" not found`,
    },
  });
}
