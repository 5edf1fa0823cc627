/** The client of one run: `ObjectReader` for reads, `ObjectWriter` for writes, and what is made of both. */
import { isConflict, isNotFound } from "../kube/api-error.ts";
import { collectionPath } from "../kube/mapper.ts";
import { watch as openWatch } from "../kube/watch.ts";
import { edit } from "../resource/edit.ts";
import type { AnyObject, Resource, Shape } from "../resource/handle.ts";
import { sameJson } from "../resource/json.ts";
import type { Draft, Key } from "../resource/meta.ts";
import { labelSelector } from "../resource/selector.ts";
import type {
  ApplyOptions,
  CallOptions,
  Client,
  Created,
  DeleteOptions,
  Everything,
  KeyOf,
  ListOptions,
  Patch,
  Reader,
  Subresource,
  Updated,
  WatchEvent,
  WriteOptions,
} from "./client.ts";
import { type ListQuery, ObjectReader } from "./object-reader.ts";
import { ObjectWriter } from "./object-writer.ts";
import type { ClientScope, RunScope } from "./scope.ts";

const CONFLICT_RETRIES = 5;

/** The reader and the writer that all clients of a controller use. */
export interface ClientParts {
  readonly scope: ClientScope;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
}

export function clientParts(scope: ClientScope): ClientParts {
  return { scope, reader: new ObjectReader(scope), writer: new ObjectWriter(scope) };
}

export class KubeClient implements Client {
  readonly #parts: ClientParts;
  readonly #run: RunScope;

  constructor(parts: ClientParts, run: RunScope) {
    this.#parts = parts;
    this.#run = run;
  }

  get live(): Reader {
    return new LiveReader(this.#parts.reader);
  }

  get<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<S["read"]> {
    return this.#parts.reader.get(resource, key, options);
  }

  find<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<S["read"] | undefined> {
    return this.#parts.reader.find(resource, key, options);
  }

  list<S extends Shape>(resource: Resource<S>, options?: ListOptions<S>): Promise<readonly S["read"][]> {
    return this.#parts.reader.list(resource, queryOf(options));
  }

  create<S extends Shape>(resource: Resource<S>, object: Created<S>, options?: WriteOptions): Promise<S["read"]> {
    return this.#parts.writer.create(resource, object as { metadata: Key }, this.#run, options);
  }

  update<S extends Shape>(resource: Resource<S>, object: Updated<S>, options?: WriteOptions): Promise<S["read"]> {
    return this.#parts.writer.update(resource, object, this.#run, options);
  }

  patch<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<S["read"]> {
    return this.#parts.writer.patch(resource, key, patch, this.#run, options);
  }

  apply<S extends Shape>(resource: Resource<S>, object: S["write"], options?: ApplyOptions): Promise<S["read"]> {
    return this.#parts.writer.apply(resource, object as { metadata: Key }, this.#run, options);
  }

  async delete<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options: DeleteOptions = {}): Promise<void> {
    try {
      await this.#parts.writer.delete(resource, key, this.#foreign(), options);
    } catch (error) {
      if (!isNotFound(error) || options.preconditions !== undefined) throw error;
    }
  }

  async deleteAll<S extends Shape>(
    resource: Resource<S>,
    what: Everything<S>,
    options: DeleteOptions = {},
  ): Promise<void> {
    const { namespace, labels } = queryOf(what as ListOptions<Shape>)!;
    const { writer, reader } = this.#parts;
    const everywhere = namespace === undefined && resource.scope !== "Cluster";
    // A collection is deleted per namespace; so "all namespaces" is one request for each that has any.
    const namespaces = everywhere
      ? new Set((await reader.listLive(resource, { labels })).map((object) => object.metadata.namespace))
      : [namespace];
    for (const one of namespaces) {
      await writer.deleteCollection(resource, { ...options, namespace: one, labels }, this.#foreign());
    }
  }

  async createOrUpdate<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    mutate: (draft: Draft<S["write"]>) => void,
    options?: WriteOptions,
  ): Promise<"created" | "updated" | "unchanged"> {
    const found = await this.find(resource, key, options);
    if (found === undefined) {
      const metadata = key.namespace === undefined ? { name: key.name } : { name: key.name, namespace: key.namespace };
      const draft = { apiVersion: resource.apiVersion, kind: resource.kind, metadata };
      mutate(draft as unknown as Draft<S["write"]>);
      sameName(resource, key, draft.metadata);
      await this.create(resource, draft, options);
      return "created";
    }
    const changed = edit(found, mutate as (draft: Draft<S["read"]>) => void);
    sameName(resource, key, changed.metadata);
    if (sameJson(changed, found)) return "unchanged";
    await this.update(resource, changed, options);
    return "updated";
  }

  async edit<S extends Shape>(
    resource: Resource<S>,
    key: KeyOf<S>,
    mutate: (draft: Draft<Updated<S>>) => void,
    options?: WriteOptions,
  ): Promise<S["read"]> {
    const { reader } = this.#parts;
    let object = await reader.get(resource, key, options);
    for (let attempt = 1; ; attempt++) {
      const changed = edit(object, mutate as unknown as (draft: Draft<AnyObject>) => void);
      sameName(resource, key, changed.metadata);
      if (sameJson(changed, object)) return object;
      try {
        return await this.update(resource, changed as unknown as Updated<S>, options);
      } catch (error) {
        if (!isConflict(error) || attempt === CONFLICT_RETRIES) throw error;
        object = await reader.getLive(resource, key, options);
      }
    }
  }

  subresource<S extends Shape = Shape>(name: string): Subresource<S> {
    const { reader, writer } = this.#parts;
    const run = this.#run;
    return {
      get: (resource, key, options) => reader.getLive(resource, key, { ...options, subresource: name }),
      update: (resource, key, body, options) => {
        const object = { ...body, metadata: { ...(body as Partial<AnyObject>).metadata, ...key } };
        return writer.update(resource, object as unknown as AnyObject, run, { ...options, subresource: name });
      },
      patch: (resource, key, patch, options) =>
        writer.patch(resource, key, patch, run, { ...options, subresource: name }),
      create: (resource, key, body, options) =>
        writer.createSubresource(resource, key, { name, body }, { run, options }),
    };
  }

  async *watch<S extends Shape>(
    resource: Resource<S>,
    given?: ListOptions<S> & { readonly resourceVersion?: string | undefined },
  ): AsyncGenerator<WatchEvent<S["read"]>> {
    const options: ListQuery & { readonly resourceVersion?: string | undefined } = queryOf(given) ?? {};
    const { mapper, transport } = this.#parts.scope;
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, options.signal));
    const path = collectionPath(mapping, options.namespace);
    const stop = new AbortController();
    const signals = [stop.signal, options.signal, this.#run.requestSignal].filter((signal) => signal !== undefined);
    const signal = AbortSignal.any(signals);
    let resourceVersion = options.resourceVersion;
    if (resourceVersion === undefined) {
      const list = await transport.request<{ readonly metadata: { readonly resourceVersion: string } }>({
        method: "GET",
        path,
        query: "limit=1",
        signal,
      });
      resourceVersion = list.metadata.resourceVersion;
    }
    const pending: WatchEvent<S["read"]>[] = [];
    let wake = Promise.withResolvers<void>();
    const { labels, fields } = options;
    const pump = async (): Promise<void> => {
      while (!signal.aborted) {
        await openWatch(transport, {
          path,
          resourceVersion: resourceVersion!,
          labels,
          fields,
          signal,
          onEvent: (type, object) => {
            resourceVersion = object.metadata.resourceVersion;
            if (type !== "BOOKMARK") pending.push({ type, object });
          },
          onBatch: () => wake.resolve(),
        });
      }
    };
    let end: { readonly error?: unknown } | undefined;
    pump().then(
      () => ((end = {}), wake.resolve()),
      (error: unknown) => ((end = { error }), wake.resolve()),
    );
    try {
      while (true) {
        yield* pending.splice(0);
        if (signal.aborted) return;
        if (end?.error !== undefined) throw end.error;
        await wake.promise;
        wake = Promise.withResolvers();
      }
    } finally {
      stop.abort();
    }
  }

  /** A deletion asked for by the author counts as foreign: it is an event like any other, also for this run's key. */
  #foreign(): RunScope {
    return { gate: this.#run.gate, requestSignal: this.#run.requestSignal, origin: "" };
  }
}

class LiveReader implements Reader {
  readonly #reader: ObjectReader;

  constructor(reader: ObjectReader) {
    this.#reader = reader;
  }

  get<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<S["read"]> {
    return this.#reader.getLive(resource, key, options);
  }

  find<S extends Shape>(resource: Resource<S>, key: KeyOf<S>, options?: CallOptions): Promise<S["read"] | undefined> {
    return this.#reader.findLive(resource, key, options);
  }

  list<S extends Shape>(resource: Resource<S>, options?: ListOptions<S>): Promise<readonly S["read"][]> {
    return this.#reader.listLive(resource, queryOf(options));
  }
}

/** The author's options with labels as the text that goes to the server. */
function queryOf<Options extends ListOptions<Shape>>(
  options: Options | undefined,
): (Omit<Options, "labels"> & ListQuery) | undefined {
  if (options === undefined) return undefined;
  const { labels } = options;
  return { ...options, labels: typeof labels === "object" ? labelSelector(labels).toString() : labels };
}

function sameName(resource: Resource, key: Key, metadata: Key): void {
  if (metadata.name !== key.name || (metadata.namespace ?? key.namespace) !== key.namespace) {
    throw new TypeError(
      `Cannot change ${resource.kind} '${key.name}': the function must not change its name or namespace`,
    );
  }
}
