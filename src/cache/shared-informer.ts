/** An informer: one set of objects, kept current, with everybody who wants to know of its changes. */
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import { abortable } from "../platform/abortable.ts";
import { systemClock, type Clock } from "../platform/clock.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { Feed, type WriteResult } from "./feed.ts";
import { Handlers } from "./handlers.ts";
import { Indexer } from "./indexer.ts";
import type { HandlerOptions, HandlerRegistration, InformerHandler } from "./informer-handler.ts";
import { Intake } from "./intake.ts";
import { InformerParts } from "./informer-parts.ts";
import { worstOf, type InformerState } from "./informer-state.ts";
import { ListGate } from "./list-gate.ts";
import { ObjectSet } from "./object-set.ts";
import type { Needs } from "./projection.ts";
import { Reflector } from "./reflector.ts";
import type { ListMode, StreamMemory } from "./streaming-list.ts";
import type { ListReason } from "./reflector-state.ts";
import { StateLog } from "./state-log.ts";

export interface SharedInformerOptions {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  /** @default nothing is logged */
  readonly log?: Pick<Log, "debug" | "info" | "warn" | "error"> | undefined;
  /** Empty for all. @default [] */
  readonly namespaces?: readonly string[] | undefined;
  /** Instead of `namespaces`: those with these labels, which come and go by `addNamespace` and `removeNamespace`. */
  readonly namespaceLabels?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Freezes cached objects. @default false */
  readonly freeze?: boolean | undefined;
  /** Changes each object on its way in, once; what it returns is kept. Where it throws, the object is kept as it came. */
  readonly transform?: ((object: AnyObject) => AnyObject) | undefined;
  /** Milliseconds after which everything is listed again, about, to find out what was missed. @default never */
  readonly checkEvery?: number | undefined;
  /** Shared by informers that must not list all at once. */
  readonly gate?: ListGate | undefined;
  /** Keys with a write of this process under way. */
  readonly held?: ReadonlyMap<string, number> | undefined;
  /** Objects of a page. @default 500 */
  readonly pageSize?: number | undefined;
  /** Paths besides metadata that are kept, such as `spec.nodeName`; an empty list for metadata alone. @default all */
  readonly keep?: readonly string[] | undefined;
  /** How to list. @default "auto" */
  readonly list?: ListMode | undefined;
  /** Shared by informers of one server. @default its own */
  readonly streams?: StreamMemory | undefined;
  /** A full list has begun. */
  readonly onList?: ((reason: ListReason) => void) | undefined;
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const NOTHING_HELD: ReadonlyMap<string, number> = new Map();

/**
 * The objects of one kind in some namespaces, by selectors.
 *
 * **Guarantees.** Handlers are called synchronously and in order, after the store has changed. A handler that throws is
 * logged and stops nobody. A handler that comes late is first told of what is there.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#SharedIndexInformer
 */
export class SharedInformer {
  readonly resource: Resource;
  readonly store: Indexer = new Indexer();
  readonly #set: ObjectSet;
  readonly #intake: Intake;
  readonly #stateLog: StateLog;
  readonly #clock: Clock;
  readonly #handlers: Handlers;
  readonly #parts: InformerParts;
  /** What is known of the namespaces themselves, when they are selected. */
  #selection: { readonly state: InformerState; readonly synced: boolean } | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #relists: Record<string, number> = {};
  readonly #stopping = new AbortController();
  #state: InformerState = { kind: "starting" };
  #hasSynced = false;
  /** Rises whenever more is needed of objects than before. */
  #needs = 0;
  /** What is kept meets the needs so far. */
  #needsMet = 0;
  #lastEventAt: number | undefined;

  constructor(resource: Resource, options: SharedInformerOptions) {
    const { clock = systemClock, random = Math.random, freeze = false, log = SILENT } = options;
    const { gate = new ListGate(), held = NOTHING_HELD, transport, mapper, pageSize } = options;
    this.resource = resource;
    const set = new ObjectSet(resource, options);
    const { id, keep, labels, fields } = set;
    this.#set = set;
    this.#selection = set.namespaceLabels === undefined ? undefined : { state: { kind: "starting" }, synced: false };
    this.#clock = clock;
    this.#stateLog = new StateLog(log, id);
    this.#intake = new Intake({ transform: options.transform, keep, freeze, log, informer: id });
    this.#handlers = new Handlers({ log, clock, informer: id, resync: () => this.#resync() });
    this.#parts = new InformerParts({
      make: (namespace, onStatus) => {
        const feed = new Feed({
          store: this.store,
          handlers: this.#handlers,
          namespace,
          held,
          intake: this.#intake,
          needs: () => this.#needs,
          covers: (object) => this.covers(object),
          onHeard: () => this.#heard(),
          onSynced: () => this.#synced(),
        });
        const reflector = new Reflector({
          resource,
          namespace,
          labels,
          fields,
          transport,
          mapper,
          clock,
          random,
          gate,
          pageSize,
          checkEvery: options.checkEvery,
          list: options.list,
          metadataOnly: keep?.isMetadataOnly,
          streams: options.streams,
          sink: feed,
          wants: () => this.#intake.wants,
          onStatus,
          onOther: (object) => this.#stateLog.other(object),
          onLeftOut: (object, flaw) => this.#stateLog.leftOut(object, flaw),
          onList: (reason) => {
            if (reason !== "initial") this.#relists[reason] = (this.#relists[reason] ?? 0) + 1;
            options.onList?.(reason);
          },
        });
        return { feed, reflector };
      },
      onStatus: () => this.#status(),
    });
    if (set.namespaceLabels !== undefined) return;
    for (const namespace of set.namespaces.length === 0 ? [""] : set.namespaces) this.#parts.add(namespace, true);
  }

  /** Differs for every kind, version, set of namespaces and selectors. */
  get id(): string {
    return this.#set.id;
  }

  /** The part of `id` that tells informers of one kind apart; empty for all objects. */
  get selector(): string {
    return this.#set.selector;
  }

  get labels(): string | undefined {
    return this.#set.labels;
  }

  get fields(): string | undefined {
    return this.#set.fields;
  }

  /** Selects namespaces; `undefined` when they are listed, or all. */
  get namespaceLabels(): string | undefined {
    return this.#set.namespaceLabels;
  }

  /** Sorted; empty for all, or for none while no namespace is selected. */
  get namespaces(): readonly string[] {
    return this.#parts.has("") ? [] : this.#parts.namespaces;
  }

  get state(): InformerState {
    return this.#state;
  }

  /** Every namespace has been listed; true from then on, until the kind is gone. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /**
   * Waits until `hasSynced`.
   *
   * @throws the signal's reason.
   */
  async synced(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    using _listener = this.onChange(() => this.#hasSynced && resolve());
    if (this.#hasSynced) return;
    await (signal === undefined ? promise : abortable(promise, signal));
  }

  /** When the server was last heard of, a list, event or bookmark; milliseconds since the epoch. */
  get lastEventAt(): number | undefined {
    return this.#lastEventAt;
  }

  /** The version up to which the store is current; with several namespaces, of the least current one. */
  get resourceVersion(): string {
    return this.store.resourceVersion;
  }

  /** Full lists after the first, by reason. */
  get relists(): Readonly<Record<string, number>> {
    return this.#relists;
  }

  /** Changes that a checking list found and no event had told of; 0 unless something is wrong with the server or here. */
  get differences(): number {
    let differences = 0;
    for (const feed of this.#parts.feeds) differences += feed.differences;
    return differences;
  }

  /** Of the objects as JSON, estimated from some of them. Walks the store. */
  get bytes(): number {
    return this.#intake.bytesOf(this.store);
  }

  /** Calls of handlers that threw. */
  get handlerFailures(): number {
    return this.#handlers.failures;
  }

  /** Objects that are kept as they came, because the transform threw. */
  get transformFailures(): number {
    return this.#intake.transformFailures;
  }

  /** Own writes that the server's stream has not shown yet. */
  get pendingWrites(): number {
    let pending = 0;
    for (const feed of this.#parts.feeds) pending += feed.pendingWrites;
    return pending;
  }

  /** Begins to list and watch; later calls do nothing. */
  start(): void {
    this.#parts.start();
  }

  /** Resolves when nothing of it is left running. The store stays as it is. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("The informer is stopped"));
    this.#handlers.stop();
    await this.#parts.stop();
    this.#state = { kind: "stopped" };
    this.#tell();
  }

  /**
   * Adds a handler, after telling it of each object that is there already.
   *
   * @throws when the informer is stopped.
   */
  addHandler(handler: InformerHandler, options: HandlerOptions): HandlerRegistration {
    if (this.#stopping.signal.aborted) {
      throw new Error(`Cannot add handler ${options.name} to ${this.id}: the informer has been stopped`);
    }
    const listener = this.#handlers.add(handler, { options, objects: this.store.values() });
    const { hasSynced } = this.claim();
    return {
      get hasSynced() {
        return hasSynced();
      },
      [Symbol.dispose]: () => this.#handlers.remove(listener),
    };
  }

  /** What is needed now: it says whether all of it has been listed, from when it has been until the kind is gone. */
  claim(): { readonly hasSynced: () => boolean } {
    const needs = this.#needs;
    return { hasSynced: () => this.#hasSynced && this.#needsMet >= needs };
  }

  /** Told when `state` or `hasSynced` changed, its own or that of a registration. */
  onChange(listener: () => void): Disposable {
    const own = (): void => listener();
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  /** Whether an object belongs to this informer's set. */
  covers(object: AnyObject): boolean {
    const { namespace = "" } = object.metadata;
    return (this.#parts.has("") || this.#parts.has(namespace)) && this.#set.selects(object);
  }

  /** Whether everything of a namespace that the selectors show is, or will be at the first sync, in the store. */
  sees(namespace: string | undefined): boolean {
    if (this.#parts.has("")) return true;
    const feed = namespace === undefined ? undefined : this.#parts.feed(namespace);
    return feed !== undefined && (this.#set.namespaceLabels === undefined || feed.synced);
  }

  /** A namespace that is selected from now on: its objects are new to the handlers. */
  addNamespace(namespace: string): void {
    if (!this.#stopping.signal.aborted && !this.#parts.has(namespace)) this.#parts.add(namespace, !this.#hasSynced);
  }

  /** A namespace that is selected no more: its objects leave, and count as deleted. */
  removeNamespace(namespace: string): void {
    this.#parts.remove(namespace);
    this.#status();
  }

  /** What is known of the namespaces that are selected, and whether all of them have been added. */
  setSelection(state: InformerState, synced: boolean): void {
    this.#selection = { state, synced };
    this.#synced();
    this.#status();
  }

  /** What all users need from now on. What was dropped before, and is needed now, is listed again. */
  setNeeds(users: Iterable<Needs>): void {
    if (!this.#intake.setNeeds(users)) return;
    this.#needs++;
    this.#parts.relist();
  }

  /** What the answer to a write shows, where an event that is held shows the same and has been parsed. */
  answered(key: string, text: string): AnyObject | undefined {
    return this.#feedOf(key)?.answered(key, text);
  }

  /** A write of this process was answered; `undefined` when it was refused. Events are let go when `isLast`. */
  endWrite(key: string, result: WriteResult | undefined, isLast: boolean): void {
    const feed = this.#feedOf(key);
    if (feed === undefined) return;
    const { object } = result ?? {};
    // The answer in another version of the API has another shape; the event comes in ours.
    const isOurs = object === undefined || object.apiVersion === this.resource.apiVersion;
    if (result !== undefined && isOurs) feed.wrote(key, result);
    if (isLast) feed.release(key);
  }

  /** The handlers have taken notice of what these in this process have written so far, as of any change from outside. */
  told(origins: readonly string[]): void {
    for (const feed of this.#parts.feeds) feed.told(origins);
  }

  #feedOf(key: string): Feed | undefined {
    return this.#parts.feed("") ?? this.#parts.feed(key.slice(0, Math.max(0, key.indexOf("/"))));
  }

  #heard(): void {
    this.#lastEventAt = this.#clock.now();
    this.store.resourceVersion = this.#parts.resourceVersion;
  }

  #synced(): void {
    const all = this.#parts.synced && this.#selection?.synced !== false;
    const { needsMet } = this.#parts;
    if (all === this.#hasSynced && needsMet === this.#needsMet) return;
    this.#hasSynced = all;
    this.#needsMet = needsMet;
    this.#tell();
  }

  #status(): void {
    const { state: parts } = this.#parts;
    const state = this.#selection === undefined ? parts : worstOf([this.#selection.state, parts]);
    if (isSame(state, this.#state)) return;
    this.#state = state;
    this.#stateLog.changed(state);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #resync(): void {
    for (const feed of this.#parts.feeds) feed.resync();
  }
}

function isSame(a: InformerState, b: InformerState): boolean {
  if (a.kind !== b.kind) return false;
  const { message } = a as { message?: string };
  return message === (b as { message?: string }).message;
}
