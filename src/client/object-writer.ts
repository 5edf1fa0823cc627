/**
 * Sends every write of this process through the write gate, and reports it to the informers.
 *
 * While an attempt is in flight the informers hold the events of its key, and its response goes into their stores at
 * once. A read after a write therefore sees at least that write, and an event that only echoes it is recognised.
 */
import type { WriteResult } from "../cache/pending-writes.ts";
import { isNotFound } from "../kube/errors/api-error.ts";
import { WritesRefused } from "../kube/transport/write-gate.ts";
import { collectionPath, objectPath } from "../kube/api/mapper.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { type Key, keyString } from "../resource/meta.ts";
import type { DeleteOptions, Patch, WriteOptions } from "./client.ts";
import { anySignal } from "../platform/abortable.ts";
import { RecordedWrite, type SentWrite } from "./recorded-calls.ts";
import { explained, reportUndeclared } from "./undeclared-call.ts";
import type { ClientScope, RequestContext } from "./client-scope.ts";
import { APPLY, type Body, identified, PATCH_TYPES, patchBody, withoutManagedFields } from "./write-body.ts";
import { WriteHold } from "./write-hold.ts";

interface Call {
  readonly verb: string;
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly target: Key;
  /** The request goes to the collection in the target's namespace. */
  readonly collection?: boolean;
  /** The object's key in the caches; `undefined` when it has none yet, or for several objects. */
  readonly key: string | undefined;
  readonly body?: unknown;
  /** Used in place of `body`; its apiVersion and kind are filled in if they are missing. */
  readonly object?: object | undefined;
  readonly contentType?: string | undefined;
  readonly query?: string | undefined;
  readonly options: ObjectWriteOptions;
  /** Derives the new state of the object from a refusal. */
  readonly refused?: ((error: unknown) => readonly WriteResult[]) | undefined;
}

/** The origin of writes that count as foreign for every key. */
const FOREIGN = "";

interface DeletedCollection {
  readonly items?: readonly AnyObject[] | null;
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
    this.#manager = managerQuery(scope.manager);
  }

  async create(
    resource: Resource,
    object: Body,
    context: RequestContext,
    options: ObjectWriteOptions = {},
  ): Promise<AnyObject> {
    const { mapper } = this.#scope;
    const { namespaced } = mapper.known(resource) ?? (await mapper.resolve(resource));
    const { name, namespace } = object.metadata;
    if (namespaced && !namespace) {
      const what = `${resource.kind} '${name ?? object.metadata.generateName ?? ""}'`;
      throw new TypeError(`Cannot create ${what}: it is namespaced, and its metadata has no namespace`);
    }
    const { key = name === undefined ? undefined : keyString({ name, namespace }) } = options;
    const target: Key = { name: "", namespace };
    const call: Call = { verb: "create", method: "POST", target, collection: true, key, object, options };
    return this.#send(resource, context, call, written);
  }

  async update(
    resource: Resource,
    object: AnyObject,
    context: RequestContext,
    options: ObjectWriteOptions = {},
  ): Promise<AnyObject> {
    const { metadata: target } = object;
    const { key = keyString(target) } = options;
    const call: Call = { verb: "update", method: "PUT", target, key, object: withoutManagedFields(object), options };
    return this.#send(resource, context, call, resultOf(options));
  }

  async patch(
    resource: Resource,
    target: Key,
    patch: Patch,
    context: RequestContext,
    options: ObjectWriteOptions = {},
  ): Promise<AnyObject> {
    const { key = keyString(target) } = options;
    const body = patchBody(patch, resource, target);
    const contentType = PATCH_TYPES[patch.type];
    const call: Call = { verb: "patch", method: "PATCH", target, key, body, contentType, options };
    return this.#send(resource, context, call, resultOf(options));
  }

  /** Server-side apply; with `force` it takes over fields of other managers. */
  apply(
    resource: Resource,
    object: Body & { readonly metadata: { readonly name: string } },
    context: RequestContext,
    options: ApplyOptions = {},
  ): Promise<AnyObject> {
    const { metadata: target } = object;
    const { body, key = keyString(target), force } = options;
    const content = body === undefined ? { object } : { body };
    const query = force === true ? "force=true" : undefined;
    const call: Call = { verb: "patch", method: "PATCH", target, key, ...content, contentType: APPLY, query, options };
    return this.#send(resource, context, call, resultOf(options));
  }

  /** Posts to a subresource, such as `eviction` or `token`. */
  async createSubresource(
    resource: Resource,
    target: Key,
    { name: subresource, body }: { readonly name: string; readonly body: object },
    { context, options }: { readonly context: RequestContext; readonly options?: WriteOptions | undefined },
  ): Promise<AnyObject> {
    const own = { ...options, subresource };
    const call: Call = { verb: "create", method: "POST", target, key: keyString(target), body, options: own };
    return this.#send(resource, context, call, resultOf(own));
  }

  /** @throws ApiError 404 when the object does not exist, 409 when a precondition fails. */
  async delete(resource: Resource, target: Key, context: RequestContext, options: DeleteOptions = {}): Promise<void> {
    const { propagation, gracePeriodSeconds, preconditions } = options;
    const { origin } = context;
    const key = keyString(target);
    // A 404 also means that the objects which the caches have under the key are gone.
    const uids = this.#uids(resource, key);
    const call: Call = {
      verb: "delete",
      method: "DELETE",
      target,
      key,
      body: { propagationPolicy: propagation, gracePeriodSeconds, preconditions, ...dryRun(options, context) },
      options,
      refused: (error) => (isNotFound(error) ? uids.map((uid) => ({ deleted: { uid }, origin })) : []),
    };
    await this.#send(resource, context, call, deleted);
  }

  /**
   * Deletes the objects that the selectors match in one request.
   *
   * @returns the deleted objects as they were before; `undefined` when the server does not return them.
   */
  async deleteCollection(
    resource: Resource,
    where: DeleteCollection,
    context: RequestContext,
  ): Promise<readonly AnyObject[] | undefined> {
    const { propagation, gracePeriodSeconds, namespace, labels } = where;
    const call: Call = {
      verb: "deletecollection",
      method: "DELETE",
      target: { name: "", namespace },
      collection: true,
      key: undefined,
      query: labels === undefined ? undefined : `labelSelector=${encodeURIComponent(labels)}`,
      body: { propagationPolicy: propagation, gracePeriodSeconds, ...dryRun(where, context) },
      options: where,
    };
    const answer = await this.#send<DeletedCollection>(resource, context, call, unknown);
    return answer.items ?? undefined;
  }

  /** Reports a change to the informers that was learnt without a write. */
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

  async #send<T>(
    resource: Resource,
    context: RequestContext,
    call: Call,
    resultOf: (answer: T, origin: string) => WriteResult | undefined,
  ): Promise<T> {
    const { informers, mapper, transport } = this.#scope;
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource));
    const { target, options } = call;
    const { subresource } = options;
    const path =
      call.collection === true ? collectionPath(mapping, target.namespace) : objectPath(mapping, target, subresource);
    const body = call.object === undefined ? call.body : identified(mapping, call.object);
    context.keep?.(resource, call.object ?? call.body); // a refusal may quote the body
    const { gate } = context;
    if (gate.refused !== undefined) throw new WritesRefused(gate.refused);
    const apiCall = { resource, verbs: [call.verb], subresource, headers: context.headers };
    reportUndeclared(this.#scope, apiCall);
    const isDry = isDryRun(options, context);
    const heldKey = isDry ? undefined : call.key;
    const hold = heldKey === undefined ? undefined : new WriteHold(informers, resource, heldKey);
    const recorded = context.record && new RecordedWrite(context, informers, this.#sent(resource, call, context));
    let answer: T;
    let result: WriteResult | undefined;
    try {
      answer = await transport.request<T>({
        method: call.method,
        path,
        query: this.#query(call, context),
        body,
        gate,
        contentType: call.contentType,
        signal: anySignal(options.signal, context.requestSignal),
        timeout: options.timeout,
        headers: context.headers,
        attempts: hold,
      });
      context.keep?.(resource, answer);
      recorded?.answered(answer);
      // A write of a run that has been cut off is news to its key, because another run, or other code, works the key by
      // now.
      if (!isDry) result = resultOf(answer, gate.refused === undefined ? context.origin : FOREIGN);
    } catch (error) {
      if (heldKey !== undefined) {
        for (const known of call.refused?.(error) ?? []) this.learn(resource, heldKey, known);
        hold?.end(undefined);
      }
      recorded?.failed(error);
      throw explained(error, this.#scope, apiCall);
    }
    if (hold !== undefined) hold.end(result);
    else if (result?.object !== undefined) this.learn(resource, keyString(result.object.metadata), result);
    recorded?.done(answer);
    return answer;
  }

  #sent(resource: Resource, call: Call, context: RequestContext): SentWrite {
    const { target, key, options } = call;
    const verb = call.contentType === APPLY ? "apply" : call.verb;
    const manager = options.manager ?? context.manager ?? this.#scope.manager;
    return {
      resource,
      verb,
      target,
      key,
      subresource: options.subresource,
      isDry: isDryRun(options, context),
      manager,
    };
  }

  #query({ method, query, options }: Call, context: RequestContext): string {
    const other = options.manager ?? context.manager;
    let text = "";
    if (method !== "DELETE") text = other === undefined ? this.#manager : managerQuery(other);
    if (query !== undefined) text += text === "" ? query : `&${query}`;
    if (options.isStrict === true) text += "&fieldValidation=Strict";
    if (isDryRun(options, context)) text += text === "" ? "dryRun=All" : "&dryRun=All";
    return text;
  }
}

/** Options of a write of one object. */
interface ObjectWriteOptions extends WriteOptions {
  readonly subresource?: string | undefined;
  /** Whether the server refuses fields that the kind does not have, instead of dropping them. @default false */
  readonly isStrict?: boolean | undefined;
  /** The field manager. @default the controller's name */
  readonly manager?: string | undefined;
  /** The object's key in the caches, if the caller has it already. @default made of the object */
  readonly key?: string | undefined;
}

interface ApplyOptions extends ObjectWriteOptions {
  readonly force?: boolean | undefined;
  /** The object as JSON, if the caller has it already. @default made of the object */
  readonly body?: string | undefined;
}

/** Options of a deletion of many objects. */
interface DeleteCollection extends DeleteOptions {
  readonly namespace?: string | undefined;
  readonly labels?: string | undefined;
}

function managerQuery(manager: string): string {
  return `fieldManager=${encodeURIComponent(manager)}`;
}

// The next functions derive from a response what became of the object, for the informers.

function resultOf({ subresource }: ObjectWriteOptions): (answer: AnyObject, origin: string) => WriteResult | undefined {
  // The responses of subresources other than status are of another kind.
  return subresource === undefined || subresource === "status" ? written : unknown;
}

function written(object: AnyObject, origin: string): WriteResult {
  return isGone(object) ? { deleted: { uid: object.metadata.uid }, origin } : { object, origin };
}

function deleted(answer: DeleteAnswer, origin: string): WriteResult | undefined {
  // The server returns the object both while finalizers or a grace period keep it and when it is gone. It has no
  // version when somebody else has deleted it first.
  if (answer.kind !== "Status" && answer.metadata?.deletionTimestamp && answer.metadata.resourceVersion) {
    return { object: answer as AnyObject, origin };
  }
  const uid = answer.details?.uid ?? answer.metadata?.uid;
  return uid === undefined ? undefined : { deleted: { uid }, origin };
}

function unknown(): undefined {
  return undefined;
}

/**
 * Whether a write has deleted the object by removing its last finalizer; the response then has the previous version.
 */
function isGone(object: AnyObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0 || finalizers.length > 0) return false;
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] } };
  return !spec?.finalizers?.length; // of a Namespace
}

/** Whether a write is a dry run, for the client, the children and the status alike. */
function isDryRun(options: WriteOptions, context: RequestContext): boolean {
  return options.dryRun === true || context.dryRun === true;
}

/** The server ignores the query of a deletion with a body, so the option goes into the body. */
function dryRun(options: WriteOptions, context: RequestContext): { readonly dryRun?: readonly string[] } {
  return isDryRun(options, context) ? { dryRun: ["All"] } : {};
}
