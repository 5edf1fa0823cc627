/** Where reads come from: the shared informers inside their set, the API server elsewhere. */
import { isStub } from "../cache/projection.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import { ApiError, isNotFound } from "../kube/api-error.ts";
import { listPages } from "../kube/list.ts";
import { collectionPath, objectPath } from "../kube/mapper.ts";
import { type AnyObject, groupKind, type Resource } from "../resource/handle.ts";
import { type Key, keyString } from "../resource/meta.ts";
import { type LabelSelector, parseLabelSelector } from "../resource/selector.ts";
import type { CallOptions } from "./client.ts";
import type { ClientScope } from "./scope.ts";

/** What a list is narrowed to. */
export interface ListQuery extends CallOptions {
  readonly namespace?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly limit?: number | undefined;
}

export class ObjectReader {
  readonly #scope: ClientScope;

  constructor(scope: ClientScope) {
    this.#scope = scope;
  }

  /** The cached object; `null` when the cache knows that there is none; `undefined` when only the server can tell. */
  cached(resource: Resource, key: Key): AnyObject | null | undefined {
    const informers = this.#scope.declared.get(groupKind(resource));
    if (informers === undefined) return undefined;
    const name = keyString(key);
    for (const informer of informers) {
      if (!informer.hasSynced || informer.resource.apiVersion !== resource.apiVersion) continue;
      const object = informer.store.get(name);
      if (object !== undefined) {
        if (!isStub(object)) return object;
      } else if (isWhole(informer, key.namespace)) {
        return null;
      }
    }
    return undefined;
  }

  async find(resource: Resource, key: Key, options: CallOptions = {}): Promise<AnyObject | undefined> {
    const cached = this.cached(resource, key);
    return cached === undefined ? this.findLive(resource, key, options) : (cached ?? undefined);
  }

  async get(resource: Resource, key: Key, options: CallOptions = {}): Promise<AnyObject> {
    const cached = this.cached(resource, key);
    if (cached === null) throw notFound(resource, key);
    return cached ?? this.getLive(resource, key, options);
  }

  async findLive(resource: Resource, key: Key, options: CallOptions = {}): Promise<AnyObject | undefined> {
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
    options: CallOptions & { subresource?: string } = {},
  ): Promise<AnyObject> {
    const { mapper, transport } = this.#scope;
    this.#declared(resource, "get", options.subresource);
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, options.signal));
    return transport.request<AnyObject>({
      method: "GET",
      path: objectPath(mapping, key, options.subresource),
      signal: options.signal,
      timeout: options.timeout,
    });
  }

  async list(resource: Resource, query: ListQuery = {}): Promise<readonly AnyObject[]> {
    return this.#cachedList(resource, query) ?? this.listLive(resource, query);
  }

  async listLive(resource: Resource, query: ListQuery = {}): Promise<readonly AnyObject[]> {
    const { mapper, transport } = this.#scope;
    this.#declared(resource, "list");
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, query.signal));
    const path = collectionPath(mapping, query.namespace);
    const { labels, fields, limit } = query;
    if (limit !== undefined) {
      const params = new URLSearchParams({ limit: String(limit) });
      if (labels !== undefined) params.set("labelSelector", labels);
      if (fields !== undefined) params.set("fieldSelector", fields);
      const page = await transport.request<{ readonly items: AnyObject[] | null }>({
        method: "GET",
        path,
        query: params.toString(),
        signal: query.signal,
        timeout: query.timeout,
      });
      return (page.items ?? []).map((item) => ({ ...item, apiVersion: mapping.apiVersion, kind: mapping.kind }));
    }
    const items: AnyObject[] = [];
    await listPages<AnyObject>(transport, {
      path,
      labels,
      fields,
      signal: query.signal,
      onPage: (page) => void items.push(...page),
    });
    return items;
  }

  #cachedList(resource: Resource, query: ListQuery): readonly AnyObject[] | undefined {
    if (query.fields !== undefined) return undefined; // the server knows which fields it selects by
    const informers = this.#scope.declared.get(groupKind(resource));
    const informer = informers?.find(
      (candidate) =>
        candidate.hasSynced && candidate.resource.apiVersion === resource.apiVersion && includes(candidate, query),
    );
    if (informer === undefined) return undefined;
    const selector: LabelSelector | undefined =
      query.labels === undefined || query.labels === informer.labels ? undefined : parseLabelSelector(query.labels);
    const found: AnyObject[] = [];
    for (const object of informer.store.values()) {
      if (query.namespace !== undefined && object.metadata.namespace !== query.namespace) continue;
      if (isStub(object)) return undefined; // its labels and its body are only at the server
      if (selector !== undefined && !selector.matches(object.metadata.labels)) continue;
      found.push(object);
      if (found.length === query.limit) break;
    }
    return found;
  }

  #declared(resource: Resource, verb: string, subresource?: string): void {
    const { permissions, onUndeclared } = this.#scope;
    if (onUndeclared !== undefined && !permissions.allows(resource, verb, subresource)) {
      onUndeclared(resource, verb, subresource);
    }
  }
}

/** Whether an object of the namespace that the informer does not have does not exist. */
function isWhole(informer: SharedInformer, namespace: string | undefined): boolean {
  return informer.labels === undefined && informer.fields === undefined && sees(informer, namespace);
}

function sees(informer: SharedInformer, namespace: string | undefined): boolean {
  const { namespaces } = informer;
  return namespaces.length === 0 || (namespace !== undefined && namespaces.includes(namespace));
}

/** Whether the informer's set includes all that the query asks for. */
function includes(informer: SharedInformer, query: ListQuery): boolean {
  if (informer.fields !== undefined || !sees(informer, query.namespace)) return false;
  return informer.labels === undefined || informer.labels === query.labels;
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
