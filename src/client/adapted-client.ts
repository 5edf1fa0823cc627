/** A client with defaults of its own: `client.with({ namespace, dryRun, signal, timeout })`. */
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Resource, Shape } from "../resource/handle.ts";
import type { Key } from "../resource/meta.ts";
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

type Mutate = Parameters<Client["edit"]>[2] & Parameters<Client["createOrUpdate"]>[2];

export class AdaptedClient implements Client<string> {
  // The kinds are not known here, so keys are of any kind.
  readonly #inner: Client<string>;
  readonly #options: ClientOptions;
  readonly #mapper: RestMapper;

  constructor(inner: Client, options: ClientOptions, mapper: RestMapper) {
    this.#inner = inner as Client<never>;
    this.#options = options;
    this.#mapper = mapper;
  }

  get live(): LiveReader<string> {
    return this.#reader(this.#inner.live);
  }

  async get<S extends Shape>(resource: Resource<S>, key: Key, options?: CallOptions): Promise<S["read"]> {
    return this.#inner.get(resource, await this.#key(resource, key), this.#call(options));
  }

  async find<S extends Shape>(resource: Resource<S>, key: Key, options?: CallOptions): Promise<S["read"] | undefined> {
    return this.#inner.find(resource, await this.#key(resource, key), this.#call(options));
  }

  async list<S extends Shape>(resource: Resource<S>, options?: ListOptions<S>): Promise<readonly S["read"][]> {
    return this.#inner.list(resource, await this.#query(resource, options));
  }

  async create<S extends Shape>(resource: Resource<S>, object: Created<S>, options?: WriteOptions): Promise<S["read"]> {
    return this.#inner.create(resource, await this.#object(resource, object), this.#write(options));
  }

  async update<S extends Shape>(resource: Resource<S>, object: Updated<S>, options?: WriteOptions): Promise<S["read"]> {
    return this.#inner.update(resource, await this.#object(resource, object), this.#write(options));
  }

  async patch<S extends Shape>(
    resource: Resource<S>,
    key: Key,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<S["read"]> {
    return this.#inner.patch(resource, await this.#key(resource, key), patch, this.#write(options));
  }

  async apply<S extends Shape>(resource: Resource<S>, object: S["write"], options?: ApplyOptions): Promise<S["read"]> {
    return this.#inner.apply(resource, await this.#object(resource, object), this.#write(options));
  }

  async delete(resource: Resource, key: Key, options?: DeleteOptions): Promise<void> {
    return this.#inner.delete(resource, await this.#key(resource, key), this.#write(options));
  }

  async deleteAll<S extends Shape>(resource: Resource<S>, what: Everything<S>, options?: DeleteOptions): Promise<void> {
    const { allNamespaces } = what as { readonly allNamespaces?: true };
    if (allNamespaces !== true) {
      const where = (await this.#query(resource, what as ListOptions<S>)) as unknown as Everything<S>;
      return this.#inner.deleteAll(resource, where, this.#write(options));
    }
    if (this.#options.namespace !== undefined) throw this.#outside(resource, "all namespaces");
    return this.#inner.deleteAll(resource, what, this.#write(options));
  }

  async createOrUpdate(
    resource: Resource,
    key: Key,
    mutate: Mutate,
    options?: WriteOptions,
  ): Promise<"created" | "updated" | "unchanged"> {
    return this.#inner.createOrUpdate(resource, await this.#key(resource, key), mutate, this.#write(options));
  }

  async edit<S extends Shape>(
    resource: Resource<S>,
    key: Key,
    mutate: Mutate,
    options?: WriteOptions,
  ): Promise<S["read"]> {
    return this.#inner.edit(resource, await this.#key(resource, key), mutate, this.#write(options));
  }

  subresource(name: "scale"): ScaleSubresource<string>;
  subresource<S extends Shape = Shape>(name: string): Subresource<S, string>;
  subresource(name: string): Subresource<Shape, string> & ScaleSubresource<string> {
    const inner = this.#inner.subresource(name) as Subresource<Shape, string> & ScaleSubresource<string>;
    const at = (resource: Resource, key: Key): Promise<Key> => this.#at(resource, key);
    return {
      get: async (resource: Resource, key: Key, options?: CallOptions) =>
        inner.get(resource, await at(resource, key), this.#call(options)) as never,
      update: async (resource, key, body, options) =>
        inner.update(resource, await at(resource, key), body, this.#write(options)),
      patch: async (resource, key, patch, options) =>
        inner.patch(resource, await at(resource, key), patch, this.#write(options)),
      create: async (resource, key, body, options) =>
        inner.create(resource, await at(resource, key), body, this.#write(options)),
      set: async (resource: Resource, key: Key, replicas: number, options?: WriteOptions) =>
        inner.set(resource, await at(resource, key), replicas, this.#write(options)),
    };
  }

  async evict(pod: Key, options?: Omit<DeleteOptions, "propagation">): Promise<void> {
    return this.#inner.evict(this.#within("Pod", pod), this.#write(options));
  }

  logs(pod: Key, options?: LogOptions): AsyncIterable<string> {
    return this.#inner.logs(this.#within("Pod", pod), this.#call(options));
  }

  exec(pod: Key, command: readonly string[], options?: ExecOptions): Execution {
    if (this.#options.dryRun === true) throw new TypeError("Cannot exec: a dry-run client changes nothing");
    return this.#inner.exec(this.#within("Pod", pod), command, this.#call(options));
  }

  async *watch<S extends Shape>(
    resource: Resource<S>,
    options?: ListOptions<S> & { readonly resourceVersion?: string | undefined },
  ): AsyncGenerator<WatchEvent<S["read"]>> {
    yield* this.#inner.watch(resource, await this.#query(resource, options));
  }

  with<const O extends ClientOptions>(options: O): Client<string> {
    const inner = this.#inner.with(options);
    return new AdaptedClient(inner as unknown as Client, this.#options, this.#mapper);
  }

  #reader(inner: LiveReader<string>): LiveReader<string> {
    const query = <S extends Shape>(resource: Resource<S>, options?: ListOptions<S>) => this.#query(resource, options);
    return {
      get: async (resource: Resource, key: Key, options) =>
        inner.get(resource, await this.#key(resource, key), this.#call(options)),
      find: async (resource: Resource, key: Key, options) =>
        inner.find(resource, await this.#key(resource, key), this.#call(options)),
      list: async (resource, options) => inner.list(resource, await query(resource, options)),
      async *pages(resource, options) {
        yield* inner.pages(resource, (await query(resource, options as ListOptions<Shape>)) as typeof options);
      },
    };
  }

  #call<T extends CallOptions>(options: T | undefined): T {
    const { timeout } = this.#options;
    const signals = [this.#options.signal, options?.signal].filter((one) => one !== undefined);
    const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
    return { timeout, ...options, signal } as T;
  }

  #write<T extends WriteOptions>(options: T | undefined): T {
    return this.#options.dryRun === true ? { ...this.#call(options), dryRun: true } : this.#call(options);
  }

  async #query<S extends Shape, O extends ListOptions<S>>(resource: Resource<S>, options: O | undefined): Promise<O> {
    const { namespace, ...rest } = (options ?? {}) as O & { readonly namespace?: string };
    const key = await this.#at(resource, { name: "", namespace });
    return this.#call({ ...rest, namespace: key.namespace } as unknown as O);
  }

  async #object<S extends Shape, O>(resource: Resource<S>, object: O): Promise<O> {
    const { metadata } = object as { readonly metadata: Key };
    const { namespace } = await this.#at(resource, metadata);
    return namespace === metadata.namespace ? object : { ...object, metadata: { ...metadata, namespace } };
  }

  async #key<S extends Shape>(resource: Resource<S>, key: Key): Promise<KeyOf<S, string>> {
    return (await this.#at(resource, key)) as KeyOf<S, string>;
  }

  async #at(resource: Resource, key: Key): Promise<Key> {
    if (this.#options.namespace === undefined) return key;
    const mapping = this.#mapper.known(resource) ?? (await this.#mapper.resolve(resource));
    return mapping.namespaced ? this.#within(resource.kind, key) : key;
  }

  #within(kind: string, key: Key): Key {
    const { namespace } = this.#options;
    if (namespace === undefined || key.namespace === namespace) return key;
    if (key.namespace === undefined) return { ...key, namespace };
    throw this.#outside({ kind }, `namespace '${key.namespace}'`);
  }

  #outside({ kind }: { readonly kind: string }, where: string): TypeError {
    return new TypeError(
      `Cannot use ${kind} of ${where}: this client is for namespace '${this.#options.namespace}'; leave the namespace out`,
    );
  }
}
