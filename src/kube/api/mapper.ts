/** Discovery: from a kind to its path. */
import { abortable } from "../../platform/abortable.ts";
import { isForeign } from "../../resource/foreign.ts";
import { groupOf, type Resource } from "../../resource/handle.ts";
import type { Key } from "../../resource/meta.ts";
import { ApiError, isNotFound } from "../errors/api-error.ts";
import type { Transport } from "../transport/transport.ts";

/** Milliseconds for which an absent kind counts as still absent. */
const MISS_MS = 1_000;

export interface Mapping {
  readonly apiVersion: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
}

/** @see https://kubernetes.io/docs/reference/using-api/api-concepts/#discovery-api */
interface ResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[] | null;
}

interface Discovery {
  readonly byKind: ReadonlyMap<string, Mapping>;
  readonly at: number;
}

/**
 * Finds the paths of kinds: a handle that knows its path costs no request, the others one request per group and
 * version.
 */
export class RestMapper {
  readonly #transport: Pick<Transport, "request">;
  readonly #fromHandles = new WeakMap<Resource, Mapping>();
  readonly #discovered = new Map<string, Discovery>();
  readonly #running = new Map<string, Promise<ReadonlyMap<string, Mapping>>>();
  readonly #now: () => number;

  constructor(transport: Pick<Transport, "request">, options: { now?: () => number } = {}) {
    this.#transport = transport;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The mapping of a kind, if it is known without a request. */
  known(resource: Resource): Mapping | undefined {
    const { plural } = resource;
    if (plural === undefined || isForeign(resource))
      return this.#discovered.get(resource.apiVersion)?.byKind.get(resource.kind);
    let mapping = this.#fromHandles.get(resource);
    if (!mapping) {
      const { apiVersion, kind, group, version, scope, subresources = [] } = resource;
      mapping = { apiVersion, kind, group, version, plural, namespaced: scope === "Namespaced", subresources };
      this.#fromHandles.set(resource, mapping);
    }
    return mapping;
  }

  /**
   * Asks the server for the path of a kind, unless it is known.
   *
   * @throws ApiError 404 when the server has no such kind.
   */
  async resolve(resource: Resource, signal?: AbortSignal): Promise<Mapping> {
    const known = this.known(resource);
    if (known) return known;
    const { apiVersion, kind } = resource;
    const recent = this.#discovered.get(apiVersion);
    const byKind =
      recent && this.#now() - recent.at < MISS_MS ? recent.byKind : await this.#discover(apiVersion, signal);
    const mapping = byKind.get(kind);
    if (mapping) return mapping;
    throw new ApiError({
      method: "GET",
      path: discoveryPath(apiVersion),
      status: {
        reason: "NotFound",
        code: 404,
        message: `The server has no kind ${kind} in apiVersion ${apiVersion}; is its CustomResourceDefinition installed?`,
      },
    });
  }

  /** Forgets the discovered kinds, after a CustomResourceDefinition was created, changed or deleted. */
  invalidate(): void {
    this.#discovered.clear();
    this.#running.clear();
  }

  async #discover(apiVersion: string, signal: AbortSignal | undefined): Promise<ReadonlyMap<string, Mapping>> {
    let running = this.#running.get(apiVersion);
    if (!running) {
      running = this.#ask(apiVersion).finally(() => {
        if (this.#running.get(apiVersion) === running) this.#running.delete(apiVersion);
      });
      this.#running.set(apiVersion, running);
    }
    // Other callers may wait for the same response: the signal ends the waiting, not the request.
    return signal ? abortable(running, signal) : running;
  }

  async #ask(apiVersion: string): Promise<ReadonlyMap<string, Mapping>> {
    let list: ResourceList = {};
    try {
      list = await this.#transport.request<ResourceList>({ method: "GET", path: discoveryPath(apiVersion) });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const byKind = mappingsOf(apiVersion, list);
    this.#discovered.set(apiVersion, { byKind, at: this.#now() });
    return byKind;
  }
}

function mappingsOf(apiVersion: string, list: ResourceList): ReadonlyMap<string, Mapping> {
  const group = groupOf(apiVersion);
  const version = group === "" ? apiVersion : apiVersion.slice(group.length + 1);
  const subresources = new Map<string, string[]>();
  const byKind = new Map<string, Mapping>();
  for (const { name, kind, namespaced } of list.resources ?? []) {
    const slash = name.indexOf("/");
    const plural = slash < 0 ? name : name.slice(0, slash);
    let own = subresources.get(plural);
    if (!own) subresources.set(plural, (own = []));
    if (slash >= 0) own.push(name.slice(slash + 1));
    else byKind.set(kind, { apiVersion, kind, group, version, plural, namespaced, subresources: own });
  }
  return byKind;
}

function discoveryPath(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/**
 * Returns the path of a collection, such as `/apis/apps/v1/namespaces/shop/deployments`, or that of all namespaces.
 *
 * @throws TypeError when the namespace cannot be one.
 */
export function collectionPath(mapping: Mapping, namespace?: string): string {
  const { apiVersion, plural, namespaced } = mapping;
  const root = apiVersion.includes("/") ? "/apis/" : "/api/";
  return namespace !== undefined && namespace !== "" && namespaced
    ? `${root}${apiVersion}/namespaces/${segment(namespace, { kind: "Namespace" })}/${plural}`
    : `${root}${apiVersion}/${plural}`;
}

/**
 * Returns the path of an object, such as `/apis/apps/v1/namespaces/shop/deployments/web/status`.
 *
 * @throws TypeError when the key names no object: a request for its path would go to the whole collection.
 */
export function objectPath(mapping: Mapping, key: Key, subresource?: string): string {
  if (!key.name) throw new TypeError(`Cannot make the path of a ${mapping.kind}: the key has no name`);
  if (mapping.namespaced && !key.namespace) {
    throw new TypeError(
      `Cannot make the path of ${mapping.kind} ${key.name}: it is namespaced, and the key has no namespace`,
    );
  }
  const path = `${collectionPath(mapping, key.namespace)}/${segment(key.name, mapping)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Names that need no escaping in a path: nearly all. */
const PLAIN = /^[a-z0-9-][a-z0-9.-]*$/;

/** Encodes a name for a path. One that no object can have would lead to another place: `..` to the namespace itself. */
function segment(name: string, { kind }: Pick<Mapping, "kind">): string {
  if (PLAIN.test(name)) return name;
  if (name === "." || name === ".." || name.includes("/") || name.includes("%")) {
    throw new TypeError(
      `Cannot make the path of ${kind} '${name}': a name is not '.' or '..', and has no '/' and no '%'`,
    );
  }
  return encodeURIComponent(name);
}
