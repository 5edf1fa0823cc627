/** Shares informers: one for each resource, set of namespaces and selectors, for as long as it has users. */
import type { Log } from "../observe/log.ts";
import { inHost } from "../platform/as-host.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { parseFieldSelector } from "../resource/field-selector.ts";
import type { Resource } from "../resource/handle.ts";
import { parseLabelSelector } from "../resource/selector.ts";
import { ListSemaphore } from "./list-semaphore.ts";
import type { KindTransform, Needs } from "./object-transformer.ts";
import type { WriteResult } from "./pending-writes.ts";
import { DividedCollections, type Portion } from "./portion.ts";
import { followNamespaces, isNamespaceSelector, Namespace, type NamespaceSelector } from "./selected-namespaces.ts";
import { SharedInformer, type SharedInformerOptions } from "./shared-informer.ts";
import { StreamMemory } from "./streaming-list.ts";

export interface InformerRegistryOptions extends Pick<
  SharedInformerOptions,
  "transport" | "mapper" | "clock" | "random" | "freeze" | "room" | "list" | "onEvent"
> {
  readonly log: Pick<Log, "debug" | "info" | "warn" | "error">;
  /** Milliseconds that an unused informer stays, so that a reload keeps it. @default 10_000 */
  readonly grace?: number | undefined;
  /** Milliseconds, with jitter, after which each informer lists again to find missed changes. @default 6 hours */
  readonly checkEvery?: number | undefined;
}

export interface AcquireOptions {
  /** Namespaces by name, or by labels; empty for all. @default [] */
  readonly namespaces?: readonly string[] | NamespaceSelector | undefined;
  /** A label selector. */
  readonly labels?: string | undefined;
  /** A field selector. */
  readonly fields?: string | undefined;
  /** The portion of the objects that is kept; equal portions are the same object. @default all */
  readonly portion?: Portion | undefined;
  readonly needs: Needs;
  /**
   * The paths that are needed besides metadata; an existing informer of whole objects is used too. @default everything
   */
  readonly keep?: readonly string[] | undefined;
  /** The user's name in the log. */
  readonly user: string;
}

/** One user's lease of an informer. */
export interface InformerLease {
  readonly informer: SharedInformer;
  /** Whether all requested objects have been listed with all needed fields. It stays true until the kind is gone. */
  readonly hasSynced: boolean;
  setNeeds(needs: Needs): void;
  /** Releases the lease; releasing it again has no effect. */
  release(): void;
}

type GroupKind = Pick<Resource, "group" | "kind">;

/** The informers of one kind. */
interface KindEntry {
  /** Replaced, never mutated. */
  informers: readonly SharedInformer[];
  /** The number of own writes in flight, by key. */
  readonly held: Map<string, number>;
  /** The transforms of kept objects, by version. */
  readonly transforms: Map<string, KindTransform>;
}

interface Shared {
  readonly informer: SharedInformer;
  readonly kind: KindEntry;
  readonly users: Map<InformerLease, { readonly name: string; needs: Needs }>;
  /** Follows the namespaces when they are selected by labels. */
  following: Disposable | undefined;
  /** The needs of users that have just left and may come back. */
  readonly leaving: Needs[];
  /** The grace period after a user has left. */
  grace: Disposable | undefined;
}

const DEFAULT_GRACE_MS = 10_000;
const DEFAULT_CHECK_MS = 6 * 3_600_000;
const NONE: readonly SharedInformer[] = Object.freeze([]);

/** The informers of one process. */
export class InformerRegistry {
  readonly #options: InformerRegistryOptions;
  readonly #clock: Clock;
  readonly #listSemaphore: ListSemaphore;
  readonly #streams = new StreamMemory();
  readonly #divided = new DividedCollections();
  readonly #shared = new Map<string, Shared>();
  readonly #kinds = new Map<string, Map<string, KindEntry>>();
  /** The informers that are being stopped, by id. */
  readonly #stopping = new Map<Promise<void>, string>();
  /** The grace periods of kinds whose transform is gone, after which they are listed again. */
  readonly #timers = new Set<Disposable>();
  #all: readonly SharedInformer[] = NONE;
  #stopped = false;

  constructor(options: InformerRegistryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#listSemaphore = new ListSemaphore(options.room?.lists);
  }

  /**
   * Leases the running informer of a set of objects. Equal sets share one informer.
   *
   * @throws SyntaxError for an invalid selector.
   */
  acquire(resource: Resource, options: AcquireOptions): InformerLease {
    // The informer outlives the first module that needs it, so its signals and requests must not end with that module.
    return inHost(() => this.#acquire(resource, options));
  }

  #acquire(resource: Resource, options: AcquireOptions): InformerLease {
    if (this.#stopped) throw new Error(`Cannot watch ${resource.kind}: the informers have been stopped`);
    const shared = this.#sharedFor(resource, options);
    const user = { name: options.user, needs: options.needs };
    let hasSynced = (): boolean => false;
    const lease: InformerLease = {
      informer: shared.informer,
      get hasSynced() {
        return hasSynced();
      },
      setNeeds: (needs) => {
        user.needs = needs;
        if (!shared.users.has(lease)) return;
        this.#need(shared);
        ({ hasSynced } = shared.informer.claim());
      },
      release: () => {
        if (shared.users.delete(lease)) this.#onLeave(shared, user.needs);
      },
    };
    shared.users.set(lease, user);
    this.#need(shared);
    ({ hasSynced } = shared.informer.claim());
    shared.informer.start();
    return lease;
  }

  /** The informers of a kind, in all its versions. */
  informersOf({ group, kind }: GroupKind): readonly SharedInformer[] {
    return this.#kinds.get(kind)?.get(group)?.informers ?? NONE;
  }

  all(): readonly SharedInformer[] {
    return this.#all;
  }

  /** The names of an informer's users. */
  usersOf(informer: SharedInformer): readonly string[] {
    return Array.from(this.#shared.get(informer.id)?.users.values() ?? [], ({ name }) => name);
  }

  /** Begins an own write to an object: events of the key are held until `endWrite`. Calls may be nested. */
  beginWrite(resource: GroupKind, key: string): void {
    const { held } = this.#kind(resource);
    held.set(key, (held.get(key) ?? 0) + 1);
  }

  /**
   * Ends an own write. Its response goes at once into every informer of the kind whose set the object belongs to, and
   * handlers are told with `origin`. `undefined` means that the write was refused: nothing changes.
   */
  endWrite(resource: GroupKind, key: string, result: WriteResult | undefined): void {
    const { held, informers } = this.#kind(resource);
    const others = (held.get(key) ?? 1) - 1;
    if (others === 0) held.delete(key);
    else held.set(key, others);
    for (const informer of informers) informer.endWrite(key, result, others === 0);
  }

  /**
   * Changes what is kept of the objects of a kind in this version from now on, in all informers; what they hold already
   * is listed again. `undefined` keeps all, and lists again when nobody has set another one within the grace period.
   *
   * @param change changes a draft in place; of its metadata it may change the annotations. It never throws.
   */
  setTransform(resource: Resource, change: KindTransform | undefined): void {
    const { transforms, informers } = this.#kind(resource);
    const { version } = resource;
    if (change === undefined) transforms.delete(version);
    else transforms.set(version, change);
    const here = informers.filter((informer) => informer.resource.version === version);
    for (const informer of here) informer.setTransform(change, { relist: change !== undefined });
    if (change !== undefined || here.length === 0 || this.#stopped) return;
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(timer);
      if (transforms.has(version)) return;
      for (const informer of here) informer.setTransform(undefined, { relist: true });
    }, this.#options.grace ?? DEFAULT_GRACE_MS);
    this.#timers.add(timer);
  }

  /** The informers that have been stopped and have not ended. */
  get stopping(): readonly string[] {
    return [...this.#stopping.values()];
  }

  /** Stops every informer; resolves once nothing is left running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) timer[Symbol.dispose]();
    for (const shared of this.#shared.values()) this.#remove(shared);
    await Promise.all(this.#stopping.keys());
  }

  #sharedFor(resource: Resource, options: AcquireOptions): Shared {
    const kind = this.#kind(resource);
    if (options.keep !== undefined) {
      const { keep: _keep, ...whole } = options;
      const full = this.#existing(this.#informer(resource, whole));
      if (full !== undefined && full.users.values().some(({ needs }) => needs.bodies === "all")) return full;
    }
    const informer = this.#informer(resource, options);
    const existing = this.#existing(informer);
    if (existing !== undefined) return existing;
    const following = this.#follow(informer);
    const transform = kind.transforms.get(resource.version);
    if (transform !== undefined) informer.setTransform(transform, { relist: false });
    const shared: Shared = { informer, kind, users: new Map(), following, leaving: [], grace: undefined };
    this.#shared.set(informer.id, shared);
    kind.informers = [...kind.informers, informer];
    this.#all = [...this.#all, informer];
    return shared;
  }

  #follow(informer: SharedInformer): Disposable | undefined {
    const { namespaceLabels, id } = informer;
    if (namespaceLabels === undefined) return undefined;
    const lease = this.acquire(Namespace, {
      labels: namespaceLabels,
      needs: { bodies: "all", managers: [] },
      keep: [],
      user: `namespaces of ${id}`,
    });
    const stack = new DisposableStack();
    stack.defer(() => lease.release());
    stack.use(followNamespaces(lease.informer, informer));
    return stack;
  }

  #existing({ id }: SharedInformer): Shared | undefined {
    return this.#shared.get(id);
  }

  #informer(resource: Resource, options: AcquireOptions): SharedInformer {
    const isCluster = resource.scope === "Cluster" || this.#options.mapper.known(resource)?.namespaced === false;
    const kind = this.#kind(resource);
    const namespaces = isCluster ? [] : options.namespaces;
    const selected = isNamespaceSelector(namespaces);
    return new SharedInformer(resource, {
      ...this.#options,
      clock: this.#clock,
      listSemaphore: this.#listSemaphore,
      streams: this.#streams,
      divided: this.#divided,
      portion: options.portion,
      held: kind.held,
      checkEvery: this.#options.checkEvery ?? DEFAULT_CHECK_MS,
      keep: options.keep,
      namespaces: selected ? undefined : namespaces,
      namespaceLabels: selected ? parseLabelSelector(namespaces.labels).toString() : undefined,
      labels: options.labels === undefined ? undefined : parseLabelSelector(options.labels).toString(),
      fields: options.fields === undefined ? undefined : parseFieldSelector(options.fields).toString(),
    });
  }

  #need({ informer, users, leaving }: Shared): void {
    informer.setNeeds([...users.values().map(({ needs }) => needs), ...leaving]);
  }

  /** A user that comes back within the grace period, as after a reload, finds everything as it was. */
  #onLeave(shared: Shared, needs: Needs): void {
    if (this.#stopped) return;
    if (!shared.leaving.some((other) => isSame(other, needs))) shared.leaving.push(needs);
    shared.grace?.[Symbol.dispose]();
    shared.grace = this.#clock.setTimeout(() => {
      shared.leaving.length = 0;
      if (shared.users.size === 0) this.#remove(shared);
      else this.#need(shared);
    }, this.#options.grace ?? DEFAULT_GRACE_MS);
  }

  #remove(shared: Shared): void {
    const { informer, kind } = shared;
    shared.grace?.[Symbol.dispose]();
    shared.following?.[Symbol.dispose]();
    this.#shared.delete(informer.id);
    kind.informers = kind.informers.filter((other) => other !== informer);
    this.#all = this.#all.filter((other) => other !== informer);
    const stopping = informer.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.set(stopping, informer.id);
  }

  #kind({ group, kind }: GroupKind): KindEntry {
    let groups = this.#kinds.get(kind);
    if (groups === undefined) this.#kinds.set(kind, (groups = new Map()));
    let entry = groups.get(group);
    if (entry === undefined) groups.set(group, (entry = { informers: NONE, held: new Map(), transforms: new Map() }));
    return entry;
  }
}

/** Whether needs require the same; a module that is reloaded again and again leaves its own each time. */
function isSame(a: Needs, b: Needs): boolean {
  return a.bodies === b.bodies && a.managers.join() === b.managers.join();
}
