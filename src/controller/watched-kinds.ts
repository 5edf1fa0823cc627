/** The informers of one controller: a lease for each declared kind, and the handlers that map events to keys. */
import type { InformerHandler } from "../cache/informer-handler.ts";
import type { InformerLease } from "../cache/informer-registry.ts";
import type { Needs } from "../cache/object-transformer.ts";
import type { Portion } from "../cache/portion.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import { type OwnedKind, OWNER_INDEX } from "../reconcile/owned-kind.ts";
import { ownerIndexOf } from "../reconcile/owner.ts";
import { groupKind } from "../resource/handle.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { ControllerShare } from "./controller-share.ts";
import { type EventMappingHost, mappedHandler, ownedHandler, primaryHandler } from "./event-mapping.ts";
import { acquireKind, needsOf } from "./needs.ts";
import type { KindWatch } from "./watch.ts";

export type HandlerRole = "for" | "owns" | "watches";

/** Calls handlers that replace earlier ones for the objects that those did not receive. */
export interface Retelling {
  /** The earlier handlers, by role and informer. */
  readonly handled: ReadonlySet<string>;
  tell(role: HandlerRole, informer: SharedInformer, handler: InformerHandler): void;
}

export interface WatchedKindsOptions {
  /** Limits the objects of `for`, and their children, that are kept. @default all are kept */
  readonly share: ControllerShare | undefined;
  /** Called when the state of an informer has changed. */
  readonly onChange: () => void;
}

export class WatchedKinds implements Disposable {
  /** The informers by `groupKind`. */
  readonly declared: Map<string, SharedInformer[]> = new Map();
  readonly owned: OwnedKind[] = [];
  readonly #scope: ControllerScope;
  /** The name in logs and metrics of who uses the informers. */
  readonly #user: string;
  readonly #options: WatchedKindsOptions;
  readonly #leases: InformerLease[] = [];
  /** The informers whose namespaces are selected by labels. */
  readonly #selecting: SharedInformer[] = [];
  readonly #divided: SharedInformer[] = [];
  readonly #handlers = new DisposableStack();
  #primary: InformerLease | undefined;
  /** Handlers of authors' `enqueue` functions, which are added once all caches have synced; empty afterwards. */
  readonly #delivered: { readonly informer: SharedInformer; readonly handler: InformerHandler }[] = [];
  readonly #mapped: { readonly informer: SharedInformer; readonly handler: InformerHandler }[] = [];
  /** The handlers by role and informer. */
  readonly handled: Set<string> = new Set();
  /** Calls handlers that replace others; `undefined` once every later handler is new. */
  #retelling: Retelling | undefined;

  constructor(scope: ControllerScope, options: WatchedKindsOptions) {
    this.#scope = scope;
    this.#user = `${scope.module}/${scope.declarations.name}`;
    this.#options = options;
  }

  /** The informer of `for`. */
  get primary(): SharedInformer | undefined {
    return this.#primary?.informer;
  }

  /** The informer of `for`, once it holds the parts of all its objects that the controller needs. */
  get listedPrimary(): SharedInformer | undefined {
    return this.#primary?.hasSynced === true ? this.#primary.informer : undefined;
  }

  get leases(): readonly InformerLease[] {
    return this.#leases;
  }

  /** The informers that keep a portion of their objects. */
  get divided(): readonly SharedInformer[] {
    return this.#divided;
  }

  get synced(): boolean {
    return this.#leases.every(({ hasSynced }) => hasSynced);
  }

  /** Whether all caches have listed a key's namespace, if namespaces are selected by labels. */
  hasListed(key: string): boolean {
    if (this.#selecting.length === 0) return true;
    const namespace = key.slice(0, Math.max(0, key.indexOf("/")));
    return this.#selecting.every((informer) => informer.sees(namespace) || !informer.namespaces.includes(namespace));
  }

  /**
   * Acquires the leases, which starts the informers; their events go to the host.
   *
   * @param retelling calls handlers that replace those of an earlier version. @default all handlers receive everything
   */
  watch(host: EventMappingHost, retelling?: Retelling): void {
    const { declarations } = this.#scope;
    const { owns, watches, reads } = declarations;
    const { share } = this.#options;
    this.#retelling = retelling;
    const primary = declarations.for;
    if (primary !== undefined) {
      this.#primary = this.#lease(primary, needsOf(declarations, "for", primary), share?.primary());
      this.#handle("for", this.#primary.informer, primaryHandler(host, primary));
    }
    for (const watch of owns) {
      const needs = needsOf(declarations, "owns", watch);
      const { informer } = this.#lease(watch, needs, share?.owned(primary!.resource, watch));
      informer.store.addIndex(OWNER_INDEX, ownerIndexOf);
      this.owned.push({ resource: watch.resource, track: watch.options.track ?? "owner", informer });
      this.#handle("owns", informer, ownedHandler(host, watch, primary!.resource));
    }
    for (const watch of watches) {
      const { informer } = this.#lease(watch, needsOf(declarations, "watches", watch));
      this.#mapped.push({ informer, handler: mappedHandler(host, watch) });
    }
    for (const watch of reads) this.#lease(watch, needsOf(declarations, "reads", watch));
  }

  /** Whether the previous version reconciled the objects of the same set. */
  get hasSamePrimary(): boolean {
    return this.#retelling?.handled.has(`for ${this.primary?.id}`) === true;
  }

  /** Lets handlers that are added from now on receive everything, because the previous version has left. */
  forgetBefore(): void {
    this.#retelling = undefined;
  }

  /** Removes the handlers; the caches stay. */
  detach(): void {
    this.#handlers.dispose();
  }

  /** Adds the handlers of `enqueue` functions, which may read other kinds now that all caches have synced. */
  deliver(): void {
    for (const mapped of this.#mapped.splice(0)) {
      this.#handle("watches", mapped.informer, mapped.handler);
      this.#delivered.push(mapped);
    }
  }

  /** Calls authors' `enqueue` functions again for all existing objects. */
  redeliver(): void {
    for (const { informer, handler } of this.#delivered) {
      for (const object of informer.store.values()) handler.onAdd(object, { isInInitialList: true });
    }
  }

  [Symbol.dispose](): void {
    this.#handlers.dispose();
    for (const lease of this.#leases) lease.release();
  }

  #lease(watch: KindWatch, needs: Needs, portion?: Portion): InformerLease {
    const { onChange } = this.#options;
    const lease = acquireKind(this.#scope.runtime, watch, { needs, portion, user: this.#user });
    const { informer } = lease;
    this.#leases.push(lease);
    if (portion !== undefined) this.#divided.push(informer);
    if (informer.namespaceLabels !== undefined) this.#selecting.push(informer);
    this.#handlers.use(informer.onChange(onChange));
    const id = groupKind(watch.resource);
    const informers = this.declared.get(id);
    if (informers === undefined) this.declared.set(id, [informer]);
    else if (!informers.includes(informer)) informers.push(informer);
    return lease;
  }

  #handle(role: HandlerRole, informer: SharedInformer, handler: InformerHandler): void {
    const id = `${role} ${informer.id}`;
    const retelling = this.#retelling?.handled.has(id) === true ? this.#retelling : undefined;
    this.handled.add(id);
    const replay = retelling === undefined;
    this.#handlers.use(informer.addHandler(handler, { name: this.#user, replay }));
    retelling?.tell(role, informer, handler);
  }
}
