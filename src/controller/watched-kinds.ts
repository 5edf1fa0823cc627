/** The informers of one controller: a lease for each declared kind, and the handlers that map events to keys. */
import type { InformerHandler } from "../cache/informer-handler.ts";
import type { Portion } from "../cache/portion.ts";
import type { Needs } from "../cache/projection.ts";
import type { InformerLease } from "../cache/informer-registry.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import { OWNER_INDEX, type OwnedKind } from "../reconcile/owned-kind.ts";
import { ownerUid } from "../reconcile/owner.ts";
import { groupKind } from "../resource/handle.ts";
import type { ControllerShare } from "./controller-share.ts";
import type { Declarations } from "./declarations.ts";
import { type EventMappingHost, mappedHandler, ownedHandler, primaryHandler } from "./event-mapping.ts";
import { bodiesOwnedBy, EVERYTHING } from "./needs.ts";
import type { Runtime } from "./runtime.ts";
import { keptPaths, type KindWatch } from "./watch.ts";

export interface WatchedKindsOptions {
  readonly runtime: Runtime;
  /** The user's name in logs and metrics. */
  readonly user: string;
  /** Limits what is kept of the objects of `for` and of their children. @default all is kept */
  readonly share: ControllerShare | undefined;
  /** The state of an informer has changed. */
  readonly onChange: () => void;
}

export class WatchedKinds implements Disposable {
  /** The informers by `groupKind`. */
  readonly declared: Map<string, SharedInformer[]> = new Map();
  readonly owned: OwnedKind[] = [];
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

  constructor(options: WatchedKindsOptions) {
    this.#options = options;
  }

  /** The informer of `for`. */
  get primary(): SharedInformer | undefined {
    return this.#primary?.informer;
  }

  /** The informer of `for`, once it holds all its objects as whole as the controller needs them. */
  get listedPrimary(): SharedInformer | undefined {
    return this.#primary?.hasSynced === true ? this.#primary.informer : undefined;
  }

  get leases(): readonly InformerLease[] {
    return this.#leases;
  }

  /** Those that keep a portion of their objects. */
  get divided(): readonly SharedInformer[] {
    return this.#divided;
  }

  get synced(): boolean {
    return this.#leases.every(({ hasSynced }) => hasSynced);
  }

  /** Whether all caches have listed a key's namespace, where namespaces are selected by labels. */
  hasListed(key: string): boolean {
    if (this.#selecting.length === 0) return true;
    const namespace = key.slice(0, Math.max(0, key.indexOf("/")));
    return this.#selecting.every((informer) => informer.sees(namespace) || !informer.namespaces.includes(namespace));
  }

  /** Acquires the leases, which starts the informers; their events go to the host. */
  watch(declarations: Declarations, host: EventMappingHost): void {
    const { name, formerly, owns, watches, reads } = declarations;
    const { share } = this.#options;
    const managers = [name, ...formerly];
    const primary = declarations.for;
    if (primary !== undefined) {
      this.#primary = this.#lease(primary, { bodies: "all", managers }, share?.primary());
      this.#handle(this.#primary.informer, primaryHandler(host, primary));
    }
    for (const watch of owns) {
      const needs = { bodies: bodiesOwnedBy(primary!.resource, watch), managers };
      const { informer } = this.#lease(watch, needs, share?.owned(primary!.resource, watch));
      informer.store.addIndex(OWNER_INDEX, ownerUid);
      this.owned.push({ resource: watch.resource, track: watch.options.track ?? "owner", informer });
      this.#handle(informer, ownedHandler(host, watch, primary!.resource));
    }
    for (const watch of watches) {
      this.#mapped.push({ informer: this.#lease(watch, EVERYTHING).informer, handler: mappedHandler(host, watch) });
    }
    for (const watch of reads) this.#lease(watch, EVERYTHING);
  }

  /** Adds the handlers of `enqueue` functions, which may read other kinds now that all caches have synced. */
  deliver(): void {
    for (const mapped of this.#mapped.splice(0)) {
      this.#handle(mapped.informer, mapped.handler);
      this.#delivered.push(mapped);
    }
  }

  /** Tells authors' `enqueue` functions again of all that is there. */
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
    const { runtime, user, onChange } = this.#options;
    const { labels, fields, namespaces } = watch.options;
    const lease = runtime.informers.acquire(watch.resource, {
      namespaces: namespaces ?? (watch.resource.scope === "Cluster" ? [] : runtime.namespaces),
      labels,
      fields,
      keep: keptPaths(watch),
      portion,
      needs,
      user,
    });
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

  #handle(informer: SharedInformer, handler: InformerHandler): void {
    this.#handlers.use(informer.addHandler(handler, { name: this.#options.user }));
  }
}
