/**
 * Every write of this process: through the gate, held and answered in the shared informers.
 *
 * While a write is under way the informers hold the events of its key; its answer goes into their stores at once. So
 * a read after a write sees at least that write, and an event that only echoes it is recognised.
 */
import type { WriteResult } from "../cache/feed.ts";
import { type ApiError, isForbidden, isNotFound } from "../kube/api-error.ts";
import { collectionPath, type Mapping, objectPath } from "../kube/mapper.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { type Key, keyString } from "../resource/meta.ts";
import type { DeleteOptions, JsonPatchOperation, Patch, WriteOptions } from "./client.ts";
import type { ClientScope, RunScope } from "./scope.ts";
import { WritesRefused } from "./write-gate.ts";

const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
} as const;

// JSON is YAML, and this content type makes a patch an apply.
const APPLY = "application/apply-patch+yaml";

/** The body of an object to write: whatever its types, it has metadata. */
interface Body {
  readonly metadata: {
    readonly name?: string | undefined;
    readonly generateName?: string | undefined;
    readonly namespace?: string | undefined;
  };
}

interface Call extends WriteOptions {
  readonly verb: string;
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly key: Key | undefined;
  readonly subresource?: string | undefined;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly query?: string | undefined;
  readonly manager?: string | undefined;
  /** What a refusal tells of the object. */
  readonly refused?: ((error: unknown) => readonly WriteResult[]) | undefined;
}

interface DeleteAnswer {
  readonly kind?: string;
  readonly details?: { readonly uid?: string };
  readonly metadata?: AnyObject["metadata"];
}

export class ObjectWriter {
  readonly #scope: ClientScope;
  readonly #manager: string;

  constructor(scope: ClientScope) {
    this.#scope = scope;
    this.#manager = `fieldManager=${encodeURIComponent(scope.manager)}`;
  }

  async create(resource: Resource, object: Body, run: RunScope, options: WriteOptions = {}): Promise<AnyObject> {
    const mapping = this.#known(resource) ?? (await this.#scope.mapper.resolve(resource));
    const { name, namespace } = object.metadata;
    if (mapping.namespaced && !namespace) {
      const what = `${resource.kind} '${name ?? object.metadata.generateName ?? ""}'`;
      throw new TypeError(`Cannot create ${what}: it is namespaced, and its metadata has no namespace`);
    }
    return this.#object(resource, run, {
      ...options,
      verb: "create",
      method: "POST",
      path: collectionPath(mapping, namespace),
      key: name === undefined ? undefined : { name, namespace },
      body: identified(mapping, object),
    });
  }

  async update(resource: Resource, object: AnyObject, run: RunScope, options: UpdateOptions = {}): Promise<AnyObject> {
    const mapping = this.#known(resource) ?? (await this.#scope.mapper.resolve(resource));
    const { subresource } = options;
    return this.#object(resource, run, {
      ...options,
      verb: "update",
      method: "PUT",
      path: objectPath(mapping, object.metadata, subresource),
      key: object.metadata,
      body: identified(mapping, withoutManagedFields(object)),
    });
  }

  async patch(
    resource: Resource,
    key: Key,
    patch: Patch,
    run: RunScope,
    options: UpdateOptions = {},
  ): Promise<AnyObject> {
    const mapping = this.#known(resource) ?? (await this.#scope.mapper.resolve(resource));
    return this.#object(resource, run, {
      ...options,
      verb: "patch",
      method: "PATCH",
      path: objectPath(mapping, key, options.subresource),
      key,
      body: patchBody(patch),
      contentType: PATCH_TYPES[patch.type],
    });
  }

  /** Server-side apply; with `force` it takes over fields of other managers. */
  async apply(
    resource: Resource,
    object: Body & { readonly metadata: { readonly name: string } },
    run: RunScope,
    options: ApplyCall = {},
  ): Promise<AnyObject> {
    const mapping = this.#known(resource) ?? (await this.#scope.mapper.resolve(resource));
    return this.#object(resource, run, {
      ...options,
      verb: "patch",
      method: "PATCH",
      path: objectPath(mapping, object.metadata, options.subresource),
      key: object.metadata,
      body: identified(mapping, object),
      contentType: APPLY,
      query: options.force ? "force=true" : "",
    });
  }

  /** Posts to a subresource, such as `eviction` or `token`. */
  async createSubresource(
    resource: Resource,
    key: Key,
    content: { readonly name: string; readonly body: object },
    call: { readonly run: RunScope; readonly options?: WriteOptions | undefined },
  ): Promise<AnyObject> {
    const mapping = this.#known(resource) ?? (await this.#scope.mapper.resolve(resource));
    return this.#object(resource, call.run, {
      ...call.options,
      verb: "create",
      method: "POST",
      path: objectPath(mapping, key, content.name),
      key,
      subresource: content.name,
      body: content.body,
    });
  }

  /** @throws ApiError 404 when there is no such object, 409 when a precondition does not hold. */
  async delete(resource: Resource, key: Key, run: RunScope, options: DeleteOptions = {}): Promise<void> {
    const mapping = this.#known(resource) ?? (await this.#scope.mapper.resolve(resource));
    const { propagation, gracePeriodSeconds, preconditions } = options;
    const body = { propagationPolicy: propagation, gracePeriodSeconds, preconditions, ...dryRun(options) };
    const { origin } = run;
    // Who is told that there is no such object has been told that those he has seen are gone.
    const seen = this.#uids(resource, keyString(key));
    await this.#send<DeleteAnswer>(
      resource,
      run,
      {
        ...options,
        verb: "delete",
        method: "DELETE",
        path: objectPath(mapping, key),
        key,
        body,
        refused: (error) =>
          isNotFound(error)
            ? seen.map((uid) => ({
                deleted: { uid },
                origin,
              }))
            : [],
      },
      (answer) => {
        // The object itself comes back while finalizers or a grace period keep it, but also when it is gone: without a
        // version when somebody else was faster.
        if (answer.kind !== "Status" && answer.metadata?.deletionTimestamp && answer.metadata.resourceVersion) {
          return { object: answer as AnyObject, origin };
        }
        const uid = answer.details?.uid ?? answer.metadata?.uid;
        return uid === undefined ? undefined : { deleted: { uid }, origin };
      },
    );
  }

  /**
   * Deletes what the selectors match in one request.
   *
   * @returns what was deleted, or is being deleted, as it was before; `undefined` when the server does not say.
   */
  async deleteCollection(
    resource: Resource,
    where: DeleteCollection,
    run: RunScope,
  ): Promise<readonly AnyObject[] | undefined> {
    const mapping = this.#known(resource) ?? (await this.#scope.mapper.resolve(resource));
    const { propagation, gracePeriodSeconds } = where;
    const answer = await this.#send<{ readonly items?: readonly AnyObject[] | null }>(
      resource,
      run,
      {
        ...where,
        verb: "deletecollection",
        method: "DELETE",
        path: collectionPath(mapping, where.namespace),
        key: undefined,
        query: where.labels === undefined ? "" : `labelSelector=${encodeURIComponent(where.labels)}`,
        body: { propagationPolicy: propagation, gracePeriodSeconds, ...dryRun(where) },
      },
      () => undefined,
    );
    return answer.items ?? undefined;
  }

  /** Brings to the informers what is known of an object without a write of its own. */
  learn(resource: Resource, key: string, result: WriteResult): void {
    const { informers } = this.#scope;
    informers.beginWrite(resource, key);
    informers.endWrite(resource, key, result);
  }

  #uids(resource: Resource, key: string): readonly string[] {
    const uids = new Set<string>();
    for (const { store } of this.#scope.informers.informersOf(resource)) {
      const object = store.get(key);
      if (object !== undefined) uids.add(object.metadata.uid);
    }
    return [...uids];
  }

  #known(resource: Resource): Mapping | undefined {
    return this.#scope.mapper.known(resource);
  }

  #object(resource: Resource, run: RunScope, call: Call): Promise<AnyObject> {
    const { subresource } = call;
    // Subresources other than status answer with another kind.
    const own = subresource === undefined || subresource === "status";
    const { origin } = run;
    return this.#send<AnyObject>(resource, run, call, (object, text) => {
      if (!own) return undefined;
      return isGone(object) ? { deleted: { uid: object.metadata.uid }, origin } : { object, text, origin };
    });
  }

  async #send<T>(
    resource: Resource,
    run: RunScope,
    call: Call,
    result: (answer: T, text: string | undefined) => WriteResult | undefined,
  ): Promise<T> {
    const { informers, transport, permissions, onUndeclared } = this.#scope;
    const { gate } = run;
    if (gate.refused !== undefined) throw new WritesRefused(gate.refused);
    if (onUndeclared !== undefined && !permissions.allows(resource, call.verb, call.subresource)) {
      onUndeclared(resource, call.verb, call.subresource);
    }
    const held = call.key === undefined || call.dryRun === true ? undefined : keyString(call.key);
    if (held !== undefined) informers.beginWrite(resource, held);
    let answer: T;
    let text: string | undefined;
    try {
      answer = await transport.request<T>({
        method: call.method,
        path: call.path,
        query: this.#query(call, run),
        body: call.body,
        contentType: call.contentType,
        signal: signalOf(call, run),
        timeout: call.timeout,
        headers: run.headers,
        parse: held === undefined ? undefined : (body) => informers.parseAnswer(resource, held, (text = body)),
      });
    } catch (error) {
      if (held !== undefined) {
        for (const known of call.refused?.(error) ?? []) this.learn(resource, held, known);
        informers.endWrite(resource, held, undefined);
      }
      throw isForbidden(error) ? undeclared(error, this.#scope, resource, call) : error;
    }
    if (call.dryRun !== true) {
      const written = result(answer, text);
      if (held !== undefined) informers.endWrite(resource, held, written);
      else if (written?.object !== undefined) this.learn(resource, keyString(written.object.metadata), written);
    }
    return answer;
  }

  #query(call: Call, run: RunScope): string {
    const { manager = run.manager } = call;
    let query = call.method === "DELETE" ? "" : this.#manager;
    if (manager !== undefined && call.method !== "DELETE") query = `fieldManager=${encodeURIComponent(manager)}`;
    if (call.query) query += query === "" ? call.query : `&${call.query}`;
    if (call.dryRun === true) query += query === "" ? "dryRun=All" : "&dryRun=All";
    return query;
  }
}

/** Options of an apply. */
export interface ApplyCall extends UpdateOptions {
  readonly force?: boolean | undefined;
  /** @default the controller's name */
  readonly manager?: string | undefined;
}

/** Options of a write that may go to a subresource. */
export interface UpdateOptions extends WriteOptions {
  readonly subresource?: string | undefined;
}

/** Where to delete, and how. */
export interface DeleteCollection extends DeleteOptions {
  readonly namespace?: string | undefined;
  readonly labels?: string | undefined;
}

function signalOf(call: Call, run: RunScope): AbortSignal | undefined {
  if (call.signal === undefined) return run.requestSignal;
  return run.requestSignal === undefined ? call.signal : AbortSignal.any([call.signal, run.requestSignal]);
}

/** A write that takes the last finalizer away deletes the object, and is answered with the version before. */
function isGone(object: AnyObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0 || finalizers.length > 0) return false;
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] } };
  return !spec?.finalizers?.length; // of a Namespace
}

/**
 * The server takes managed fields that come with an update for all there are. The informers keep only our own, so that
 * every other manager would lose its fields; without any the server goes on from those it has.
 */
function withoutManagedFields(object: AnyObject): AnyObject {
  if (object.metadata.managedFields === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
}

function identified(mapping: Mapping, object: Body): object {
  return "kind" in object && "apiVersion" in object
    ? object
    : { apiVersion: mapping.apiVersion, kind: mapping.kind, ...object };
}

/** Names the line that is missing in the controller, because RBAC is generated from its declarations. */
function undeclared(error: ApiError, scope: ClientScope, resource: Resource, call: Call): ApiError {
  if (!scope.permissions.allows(resource, call.verb, call.subresource)) {
    error.message += `; controller '${scope.manager}' does not declare it: add \`uses: [allow(${resource.kind}, "${call.subresource === undefined ? "" : `${call.subresource}/`}${call.verb}")]\``;
  }
  return error;
}

/** A deletion with a body is not read from its query. */
function dryRun(options: WriteOptions): { readonly dryRun?: readonly string[] } {
  return options.dryRun === true ? { dryRun: ["All"] } : {};
}

/** A patch with a version is refused with 409 unless the object still has it. */
function patchBody(patch: Patch): unknown {
  if (patch.type === "json" || patch.resourceVersion === undefined) return patch.body;
  const { metadata } = patch.body as { readonly metadata?: object };
  return { ...patch.body, metadata: { ...metadata, resourceVersion: patch.resourceVersion } };
}

/** A JSON patch that fails unless the object is still the one that was read. */
export function guardedPatch(object: AnyObject, operations: readonly JsonPatchOperation[]): Patch {
  return { type: "json", body: [{ op: "test", path: "/metadata/uid", value: object.metadata.uid }, ...operations] };
}
