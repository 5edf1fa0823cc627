/** A shared informer: one set of objects, kept current for all its users. */
import type { Log } from "../observe/log.ts";
import { abortable } from "../platform/abortable.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { compareVersions } from "../resource/meta.ts";
import { Delivery } from "./delivery.ts";
import { DeltaProcessor } from "./delta-processor.ts";
import type { HandlerOptions, HandlerRegistration, InformerHandler } from "./informer-handler.ts";
import { InformerPartitions } from "./informer-partitions.ts";
import { type InformerState, isSameState, StateLog, worstOf } from "./informer-state.ts";
import { ListSemaphore } from "./list-semaphore.ts";
import { ObjectSet } from "./object-set.ts";
import { type KindTransform, type Needs, ObjectTransformer } from "./object-transformer.ts";
import type { WriteResult } from "./pending-writes.ts";
import { type Portion, PortionSink } from "./portion.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import { Reflector } from "./reflector.ts";
import { Indexer } from "./store.ts";

/** Options of a reflector that the informer sets by itself. */
type OwnOptions = "resource" | "namespace" | "sink" | "wants" | "metadataOnly" | "onStatus" | "onOther" | "onLeftOut";

/** The connection to the server, the set of objects, and the fields of them that are kept. */
export interface SharedInformerOptions extends Omit<ReflectorOptions, OwnOptions> {
  /** @default nothing is logged */
  readonly log?: Pick<Log, "debug" | "info" | "warn" | "error"> | undefined;
  /** Empty for all namespaces. @default [] */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Instead of `namespaces`: a label selector for namespaces, which are added and removed by `addNamespace` and
   * `removeNamespace`.
   */
  readonly namespaceLabels?: string | undefined;
  /** Freezes cached objects. @default false */
  readonly freeze?: boolean | undefined;
  /** Changes each object once before it is stored. If it throws, the object is stored unchanged. */
  readonly transform?: ((object: AnyObject) => AnyObject) | undefined;
  /** The number of own writes in flight for each key. */
  readonly held?: ReadonlyMap<string, number> | undefined;
  /**
   * Paths that are kept besides metadata, such as `spec.nodeName`; an empty list keeps metadata only. @default
   * everything
   */
  readonly keep?: readonly string[] | undefined;
  /**
   * Called with the new state of each object that the watch shows as added or changed, before it is reduced, with the
   * state in the store, and with whether nothing but metadata is watched. It must not throw. @default not called
   */
  readonly onEvent?: ((object: AnyObject, stored: AnyObject | undefined, isPartial: boolean) => void) | undefined;
}

type Wants = (object: AnyObject) => boolean;
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const NOTHING_HELD: ReadonlyMap<string, number> = new Map();

/**
 * Holds the objects of one kind that match its namespaces and selectors.
 *
 * **Guarantees.** Handlers are called synchronously and in order, after the store has changed. An error of a handler is
 * logged and affects no other handler. A handler that is added late is first called for every stored object.
 *
 * @see https://pkg.go.dev/k8s.io/client-go/tools/cache#SharedIndexInformer
 */
export class SharedInformer {
  /** Whether nothing but metadata is watched. */
  readonly isMetadataOnly: boolean;
  readonly resource: Resource;
  readonly store: Indexer = new Indexer();
  readonly #set: ObjectSet;
  readonly #portion: Portion | undefined;
  /** The conditions for keeping an object whole: `all` by the needs alone, `here` only within the portion. */
  #predicates: { readonly all: Wants; readonly here: Wants } | undefined;
  readonly #portionChanges: Disposable | undefined;
  readonly #transformer: ObjectTransformer;
  readonly #stateLog: StateLog;
  readonly #clock: Clock;
  readonly #delivery: Delivery;
  readonly #partitions: InformerPartitions;
  /** The state of the namespaces themselves, when they are selected by labels. */
  #selection: { readonly state: InformerState; readonly synced: boolean } | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #relists: Record<string, number> = {};
  readonly #stopping = new AbortController();
  #state: InformerState = { kind: "starting" };
  #hasSynced = false;
  /** Increases whenever more of each object is needed than before. */
  #needs = 0;
  /** The needs that the stored objects meet. */
  #needsMet = 0;
  #lastEventAt: number | undefined;

  constructor(resource: Resource, options: SharedInformerOptions) {
    const { clock = systemClock, random = Math.random, freeze = false, log = SILENT } = options;
    const { listSemaphore = new ListSemaphore(), held = NOTHING_HELD, portion } = options;
    this.resource = resource;
    const set = new ObjectSet(resource, options);
    const { id, keep, labels, fields } = set;
    this.#set = set;
    this.isMetadataOnly = keep?.isMetadataOnly === true;
    this.#portion = portion;
    this.#selection = set.namespaceLabels === undefined ? undefined : { state: { kind: "starting" }, synced: false };
    this.#clock = clock;
    this.#stateLog = new StateLog(log, id);
    this.#transformer = new ObjectTransformer({ transform: options.transform, keep, freeze, log, informer: id });
    this.#delivery = new Delivery(this.store, { log, clock, informer: id, onResync: () => this.#resync() });
    this.#partitions = new InformerPartitions({
      make: (namespace, onStatus) => {
        const { onEvent } = options;
        const processor = new DeltaProcessor({
          store: this.store,
          delivery: this.#delivery,
          namespace,
          held,
          transformer: this.#transformer,
          needs: () => this.#needs,
          covers: (object) => this.covers(object) && portion?.has(object) !== false,
          onEvent: onEvent && ((object, stored) => onEvent(object, stored, this.isMetadataOnly)),
          onHeard: () => this.#onServerHeard(),
          onSynced: () => this.#synced(),
        });
        const reflector = new Reflector({
          ...options,
          resource,
          namespace,
          labels,
          fields,
          clock,
          random,
          listSemaphore,
          metadataOnly: keep?.isMetadataOnly,
          sink: portion === undefined ? processor : new PortionSink(processor, { portion, store: this.store }),
          wants: () => this.#wants(),
          onStatus,
          onOther: (object) => this.#stateLog.other(object),
          onLeftOut: (object, flaw) => this.#stateLog.leftOut(object, flaw),
          onList: (reason) => {
            if (reason !== "initial") this.#relists[reason] = (this.#relists[reason] ?? 0) + 1;
            options.onList?.(reason);
          },
        });
        return { processor, reflector };
      },
      onStatus: () => this.#status(),
    });
    this.#portionChanges = portion?.onChange((isMore) => this.#portioned(isMore));
    if (set.namespaceLabels !== undefined) return;
    for (const namespace of set.namespaces.length === 0 ? [""] : set.namespaces) this.#partitions.add(namespace, true);
  }

  /** Unique for each kind, version, set of namespaces and selectors. */
  get id(): string {
    return this.#set.id;
  }

  /** The part of `id` that distinguishes informers of one kind; empty for all objects. */
  get selector(): string {
    return this.#set.selector;
  }

  get labels(): string | undefined {
    return this.#set.labels;
  }

  get fields(): string | undefined {
    return this.#set.fields;
  }

  /** The id of the portion that is kept, where several replicas divide the objects. */
  get portion(): string | undefined {
    return this.#portion?.id;
  }

  /** The label selector for namespaces; `undefined` when they are named, or when all are watched. */
  get namespaceLabels(): string | undefined {
    return this.#set.namespaceLabels;
  }

  /** Sorted; empty for all namespaces, and while no namespace matches the selector. */
  get namespaces(): readonly string[] {
    return this.#partitions.has("") ? [] : this.#partitions.namespaces;
  }

  get state(): InformerState {
    return this.#state;
  }

  /** Whether every namespace has been listed; it stays true until the kind is gone. */
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

  /**
   * When the last list, event or bookmark arrived; milliseconds since the epoch. `undefined` before the first, and while
   * there is nothing to watch.
   */
  get lastEventAt(): number | undefined {
    const watchesNothing = this.#portion?.isEmpty === true || this.#partitions.isEmpty;
    return watchesNothing ? undefined : this.#lastEventAt;
  }

  /** The resource version up to which the store is current; with several namespaces, that of the least current one. */
  get resourceVersion(): string {
    return this.store.resourceVersion;
  }

  /** Whether a list has shown this state of the object or a later one; `false` when only an event has shown it. */
  isListed(object: AnyObject): boolean {
    const { namespace = "", resourceVersion } = object.metadata;
    const processor = this.#partitions.processor("") ?? this.#partitions.processor(namespace);
    return processor !== undefined && compareVersions(resourceVersion, processor.listedVersion) <= 0;
  }

  /** The number of full lists after the first one, by reason. */
  get relists(): Readonly<Record<string, number>> {
    return this.#relists;
  }

  /**
   * The number of changes that a checking list has shown without an event for them; 0 unless the server or this program
   * is faulty.
   */
  get differences(): number {
    let differences = 0;
    for (const processor of this.#partitions.processors) differences += processor.differences;
    return differences;
  }

  /** The estimated size of the objects as JSON, in bytes. Walks the store. */
  get bytes(): number {
    return this.#transformer.bytesOf(this.store);
  }

  /** How many handler calls have thrown, and how many objects were stored unchanged because `transform` threw. */
  get failures(): { readonly handlers: number; readonly transforms: number } {
    return { handlers: this.#delivery.failures, transforms: this.#transformer.transformFailures };
  }

  /** Whether whole objects are kept with fewer fields than they have on the server. */
  get isReduced(): boolean {
    return this.#transformer.isReduced;
  }

  /** The number of own writes that the watch has not shown yet. */
  get pendingWrites(): number {
    let pending = 0;
    for (const processor of this.#partitions.processors) pending += processor.pendingWrites;
    return pending;
  }

  /** Starts listing and watching; later calls have no effect. */
  start(): void {
    this.#partitions.start();
  }

  /** Stops the informer; resolves once nothing is left running. The store keeps its content. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("The informer is stopped"));
    this.#portionChanges?.[Symbol.dispose]();
    this.#delivery.stop();
    await this.#partitions.stop();
    this.#state = { kind: "stopped" };
    this.#notify();
  }

  /**
   * Adds a handler and calls its `onAdd` for every stored object.
   *
   * @throws Error when the informer has been stopped.
   */
  addHandler(handler: InformerHandler, options: HandlerOptions): HandlerRegistration {
    if (this.#stopping.signal.aborted) {
      throw new Error(`Cannot add handler ${options.name} to ${this.id}: the informer has been stopped`);
    }
    const registered = this.#delivery.addHandler(handler, options);
    const { hasSynced } = this.claim();
    return {
      get hasSynced() {
        return hasSynced();
      },
      [Symbol.dispose]: () => registered[Symbol.dispose](),
    };
  }

  /** Notes the current needs; the result says whether everything that they require has been listed. */
  claim(): { readonly hasSynced: () => boolean } {
    const needs = this.#needs;
    return { hasSynced: () => this.#hasSynced && this.#needsMet >= needs };
  }

  /** Calls the listener when `state` or `hasSynced` changes, of the informer or of a registration. */
  onChange(listener: () => void): Disposable {
    const own = (): void => listener();
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  /** Whether an object belongs to this informer's set. */
  covers(object: AnyObject): boolean {
    const { namespace = "" } = object.metadata;
    return (this.#partitions.has("") || this.#partitions.has(namespace)) && this.#set.selects(object);
  }

  /** Whether the store holds all matching objects of a namespace, now or from the first sync on. */
  sees(namespace: string | undefined): boolean {
    if (this.#partitions.has("")) return true;
    const processor = namespace === undefined ? undefined : this.#partitions.processor(namespace);
    return processor !== undefined && (this.#set.namespaceLabels === undefined || processor.synced);
  }

  /** Whether `sees` is true and no other replica keeps a part of the namespace. */
  seesAll(namespace: string | undefined): boolean {
    return this.sees(namespace) && this.#portion?.hasAll(namespace) !== false;
  }

  /** Starts watching a namespace; its objects are reported to handlers as added. */
  addNamespace(namespace: string): void {
    if (!this.#stopping.signal.aborted && !this.#partitions.has(namespace))
      this.#partitions.add(namespace, !this.#hasSynced);
  }

  /** Stops watching a namespace; its objects are reported to handlers as deleted. */
  removeNamespace(namespace: string): void {
    this.#partitions.remove(namespace);
    this.#status();
  }

  /** Sets the state of the selected namespaces, and whether all of them have been added. */
  setSelection(state: InformerState, synced: boolean): void {
    this.#selection = { state, synced };
    this.#synced();
    this.#status();
  }

  /** Sets the needs of all users. Fields and objects that were dropped and are needed now are listed again. */
  setNeeds(users: Iterable<Needs>): void {
    if (this.#transformer.setNeeds(users)) this.#relist();
  }

  /**
   * Changes the fields of each object that are kept from now on; stored objects are listed again if the caller asks for
   * that.
   */
  setTransform(change: KindTransform | undefined, { relist }: { readonly relist: boolean }): void {
    this.#transformer.kindTransform = change;
    if (relist && !this.#stopping.signal.aborted) this.#relist();
  }

  /**
   * Ends an own write; `result` is `undefined` when it was refused. Deferred events are released with the last write.
   */
  endWrite(key: string, result: WriteResult | undefined, isLast: boolean): void {
    const processor = this.#processorOf(key);
    if (processor === undefined) return;
    const { object } = result ?? {};
    // A response in another API version has another shape; its event arrives in ours.
    const isOurs = object === undefined || object.apiVersion === this.resource.apiVersion;
    if (result !== undefined && isOurs) processor.recordWrite(key, result);
    if (isLast) processor.release(key);
  }

  /** The writes of these origins count as observed by the handlers, like changes from outside. */
  markObserved(origins: readonly string[]): void {
    for (const processor of this.#partitions.processors) processor.markObserved(origins);
  }

  #wants(): Wants | undefined {
    const { wants: all } = this.#transformer;
    const portion = this.#portion;
    if (all === undefined || portion === undefined) return all;
    if (this.#predicates?.all !== all) this.#predicates = { all, here: (object) => all(object) && portion.has(object) };
    return this.#predicates.here;
  }

  /** Objects that no longer belong to the portion leave at once; objects that newly belong to it are listed. */
  #portioned(isMore: boolean): void {
    for (const processor of this.#partitions.processors) processor.discard((object) => this.#portion!.has(object));
    if (isMore) this.#relist(true);
    else this.#partitions.rewatch();
  }

  #relist(always = false): void {
    this.#needs++;
    this.#partitions.relist(always);
  }

  #processorOf(key: string): DeltaProcessor | undefined {
    return this.#partitions.processor("") ?? this.#partitions.processor(key.slice(0, Math.max(0, key.indexOf("/"))));
  }

  #onServerHeard(): void {
    this.#lastEventAt = this.#clock.now();
    this.store.resourceVersion = this.#partitions.resourceVersion;
  }

  #synced(): void {
    const all = this.#partitions.synced && this.#selection?.synced !== false;
    const { needsMet } = this.#partitions;
    if (all === this.#hasSynced && needsMet === this.#needsMet) return;
    this.#hasSynced = all;
    this.#needsMet = needsMet;
    this.#notify();
  }

  #status(): void {
    const { state: parts } = this.#partitions;
    const state = this.#selection === undefined ? parts : worstOf([this.#selection.state, parts]);
    if (isSameState(state, this.#state)) return;
    this.#state = state;
    this.#stateLog.changed(state);
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #resync(): void {
    for (const processor of this.#partitions.processors) processor.resync();
  }
}
