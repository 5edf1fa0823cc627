/** Shares informers: one per resource, namespaces and selectors, for as long as somebody uses it. */
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import { systemClock, type Clock } from "../platform/clock.ts";
import type { Resource } from "../resource/handle.ts";
import { parseFieldSelector } from "../resource/field-selector.ts";
import { parseLabelSelector } from "../resource/selector.ts";
import type { WriteResult } from "./feed.ts";
import { ListGate } from "./list-gate.ts";
import type { Needs } from "./projection.ts";
import { followNamespaces, isNamespaceSelector, Namespace, type NamespaceSelector } from "./selected-namespaces.ts";
import { SharedInformer } from "./shared-informer.ts";
import { StreamMemory, type ListMode } from "./streaming-list.ts";

export interface InformerRegistryOptions {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  readonly log: Pick<Log, "debug" | "info" | "warn" | "error">;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** Freezes cached objects: for `dev` and tests. @default false */
  readonly freeze?: boolean | undefined;
  /** Milliseconds that an unused informer lives on, so that a reload keeps it. @default 10_000 */
  readonly grace?: number | undefined;
  /** Milliseconds after which each informer lists again, about, to find out what it missed. @default 6 hours */
  readonly checkEvery?: number | undefined;
  /** How informers list. @default "auto" */
  readonly list?: ListMode | undefined;
  /** From 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
}

export interface AcquireOptions {
  /** Empty for all; or by labels. @default [] */
  readonly namespaces?: readonly string[] | NamespaceSelector | undefined;
  /** A label selector. */
  readonly labels?: string | undefined;
  /** A field selector. */
  readonly fields?: string | undefined;
  readonly needs: Needs;
  /** All that is needed besides metadata, by paths: an informer that has whole objects anyway is used. @default all */
  readonly keep?: readonly string[] | undefined;
  /** Who it is, in the log and on the debug page. */
  readonly user: string;
}

/** One user's hold on an informer. */
export interface InformerLease {
  readonly informer: SharedInformer;
  /** All that was asked for has been listed, as whole as it is needed; true from then on, until the kind is gone. */
  readonly hasSynced: boolean;
  setNeeds(needs: Needs): void;
  /** Also twice. */
  release(): void;
}

type GroupKind = Pick<Resource, "group" | "kind">;

/** What is known of one kind. */
interface KindEntry {
  /** Replaced, never changed. */
  informers: readonly SharedInformer[];
  /** Writes of this process under way, by key. */
  readonly held: Map<string, number>;
}

interface Shared {
  readonly informer: SharedInformer;
  readonly kind: KindEntry;
  readonly users: Map<InformerLease, { readonly name: string; needs: Needs }>;
  /** What tells it of its namespaces, when they are selected. */
  following: Disposable | undefined;
  /** Of users who have just left, and may come back. */
  readonly leaving: Needs[];
  /** Runs after a user has left. */
  grace: Disposable | undefined;
}

const DEFAULT_GRACE_MS = 10_000;
/** Six hours. */
const DEFAULT_CHECK_MS = 21_600_000;
const NONE: readonly SharedInformer[] = Object.freeze([]);

/** The informers of a process. */
export class InformerRegistry {
  readonly #options: InformerRegistryOptions;
  readonly #clock: Clock;
  readonly #gate = new ListGate();
  readonly #streams = new StreamMemory();
  readonly #shared = new Map<string, Shared>();
  readonly #kinds = new Map<string, Map<string, KindEntry>>();
  readonly #stopping = new Set<Promise<void>>();
  #all: readonly SharedInformer[] = NONE;
  #stopped = false;

  constructor(options: InformerRegistryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * The informer of a set of objects, running. The same set gives the same informer.
   *
   * @throws SyntaxError for a bad selector.
   */
  acquire(resource: Resource, options: AcquireOptions): InformerLease {
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
        if (shared.users.delete(lease)) this.#left(shared, user.needs);
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

  /** Who uses an informer, by the name they gave. */
  usersOf(informer: SharedInformer): readonly string[] {
    return Array.from(this.#shared.get(informer.id)?.users.values() ?? [], ({ name }) => name);
  }

  /** A write of this process to an object is under way: events of the key are held until `endWrite`. May be nested. */
  beginWrite(resource: GroupKind, key: string): void {
    const { held } = this.#kind(resource);
    held.set(key, (held.get(key) ?? 0) + 1);
  }

  /** Parses the answer to a write, unless an event that is held has been parsed from the same text. */
  parseAnswer(resource: GroupKind, key: string, text: string): unknown {
    for (const informer of this.#kind(resource).informers) {
      const known = informer.answered(key, text);
      if (known !== undefined) return known;
    }
    return JSON.parse(text);
  }

  /**
   * The answer to a write: it goes into every informer of the kind whose set it belongs to, at once, and handlers are
   * told with `origin`. A write that was refused, `undefined`, leaves no trace.
   */
  endWrite(resource: GroupKind, key: string, result: WriteResult | undefined): void {
    const { held, informers } = this.#kind(resource);
    const others = (held.get(key) ?? 1) - 1;
    if (others === 0) held.delete(key);
    else held.set(key, others);
    for (const informer of informers) informer.endWrite(key, result, others === 0);
  }

  /** Stops every informer; resolves when nothing is left running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const shared of this.#shared.values()) this.#remove(shared);
    await Promise.all(this.#stopping);
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
    const { transport, mapper, log, random, freeze, list } = this.#options;
    const isCluster = resource.scope === "Cluster" || mapper.known(resource)?.namespaced === false;
    const kind = this.#kind(resource);
    const namespaces = isCluster ? [] : options.namespaces;
    const selected = isNamespaceSelector(namespaces);
    return new SharedInformer(resource, {
      transport,
      mapper,
      log,
      random,
      freeze,
      clock: this.#clock,
      gate: this.#gate,
      list,
      streams: this.#streams,
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

  /** Who comes back soon, as after a reload, finds everything as it was. */
  #left(shared: Shared, needs: Needs): void {
    if (this.#stopped) return;
    shared.leaving.push(needs);
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
    this.#stopping.add(stopping);
  }

  #kind({ group, kind }: GroupKind): KindEntry {
    let groups = this.#kinds.get(kind);
    if (groups === undefined) this.#kinds.set(kind, (groups = new Map()));
    let entry = groups.get(group);
    if (entry === undefined) groups.set(group, (entry = { informers: NONE, held: new Map() }));
    return entry;
  }
}
