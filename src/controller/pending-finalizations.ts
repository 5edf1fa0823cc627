/**
 * Objects that the caches no longer hold, because they have left the selector of `for` or are gone. In their last known
 * state they had our finalizer, or were about to get it. Only the server knows whether they still must be finalized.
 */
import { isNamespaceSelector } from "../cache/selected-namespaces.ts";
import { listMetadata } from "../kube/api/list.ts";
import { plainObject } from "../kube/api/listed-metadata.ts";
import { collectionPath } from "../kube/api/mapper.ts";
import { sleep } from "../platform/clock.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import { hasFinalizer } from "../reconcile/finalizer.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { ControllerShare } from "./controller-share.ts";
import type { KindWatch } from "./watch.ts";
import type { WatchedKinds } from "./watched-kinds.ts";

export class PendingFinalizations {
  readonly #objects = new Map<string, AnyObject>();
  /** Called after an object was removed from this collection. */
  onChange: () => void = () => {};

  get size(): number {
    return this.#objects.size;
  }

  /** The key of any of them. */
  get first(): string | undefined {
    return this.#objects.keys().next().value;
  }

  /** The last known state of the object; an object that was found by a search has only metadata. */
  get(key: string): AnyObject | undefined {
    return this.#objects.get(key);
  }

  add(key: string, object: AnyObject): void {
    this.#objects.set(key, object);
  }

  remove(key: string): void {
    if (this.#objects.delete(key)) this.onChange();
  }

  /** Keeps only these objects, because other replicas finalize the others. */
  retain(isOurs: (object: AnyObject) => boolean): void {
    for (const [key, object] of this.#objects) if (!isOurs(object)) this.remove(key);
  }

  /** Removes an object that needs no finalization any more; a later object with the same key stays. */
  complete(key: string, object: AnyObject): void {
    if (this.#objects.get(key) === object) this.remove(key);
  }
}

/** The cause of the run of an object that has left the selector of `for`. */
export function leftCause({ kind, metadata }: AnyObject): Cause {
  return { source: "for", type: "delete", kind, key: { name: metadata.name, namespace: metadata.namespace } };
}

/** Milliseconds between two attempts when the server refuses. */
const AGAIN_MS = 30_000;

export interface MissedFinalizationsParts {
  readonly kinds: Pick<WatchedKinds, "primary">;
  readonly queue: Pick<WorkQueue, "add">;
  /** The part of the objects that this replica works. @default all */
  readonly share: Pick<ControllerShare, "works"> | undefined;
  readonly pendingFinalizations: PendingFinalizations;
}

export interface MissedSearch {
  /** The objects to look for. @default those on which this replica works */
  readonly isMeant?: ((object: AnyObject) => boolean) | undefined;
  /** Whether to search beyond the controller's watch, in everything that the process watches. @default false */
  readonly everywhere?: boolean | undefined;
}

/**
 * Finds objects that left the selector of `for` while no process watched and still carry our finalizer. A watch with
 * the selector will never show them.
 */
export class MissedFinalizations {
  readonly #scope: ControllerScope;
  readonly #parts: MissedFinalizationsParts;
  #progress: "unknown" | "sought" | "complete" = "unknown";

  constructor(scope: ControllerScope, parts: MissedFinalizationsParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  /** Whether all such objects are known; the previous version may have found them. */
  get areComplete(): boolean {
    return this.#progress === "complete";
  }

  set areComplete(areComplete: boolean) {
    this.#progress = areComplete ? "complete" : "unknown";
  }

  /** Queues all such objects, unless that has been done. */
  async findAll(): Promise<void> {
    if (this.#progress !== "unknown") return;
    this.#progress = "sought";
    await this.find();
    if (!this.#scope.stopping.aborted) this.#progress = "complete";
  }

  /**
   * Queues the selected objects. It has no effect when the watch has no selector, unless the search is `everywhere`.
   */
  async find(search: MissedSearch = {}): Promise<void> {
    const { declarations, log, runtime, stopping: signal } = this.#scope;
    const { for: watch, finalizers } = declarations;
    if (watch === undefined || finalizers.length === 0) return;
    const { labels, fields, namespaces } = watch.options;
    const isSelected = labels !== undefined || fields !== undefined || isNamespaceSelector(namespaces);
    if (!isSelected && !(search.everywhere === true && namespaces !== undefined)) return;
    while (!signal.aborted) {
      try {
        await this.#look(watch, search);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn("Cannot look for objects that left the selector", { kind: watch.resource.kind, error });
        await sleep(AGAIN_MS, { clock: runtime.clock, signal }).catch(() => {});
      }
    }
  }

  /** Lists the metadata of all objects of the kind once. */
  async #look({ resource, options: { namespaces } }: KindWatch, search: MissedSearch): Promise<void> {
    const { declarations, runtime, stopping: signal } = this.#scope;
    const { kinds, queue, share, pendingFinalizations } = this.#parts;
    const { isMeant = (object) => share?.works(object) !== false, everywhere = false } = search;
    const { transport, mapper } = runtime;
    const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, signal));
    const { namespace: everyNamespace = [] } = runtime.settings;
    const watched = everywhere ? everyNamespace : (namespaces ?? everyNamespace);
    const names = isNamespaceSelector(watched) ? [] : watched;
    for (const namespace of mapping.namespaced && names.length > 0 ? names : [""]) {
      await listMetadata(transport, {
        path: collectionPath(mapping, namespace),
        type: resource,
        fullListIfExpired: true,
        signal,
        onPage(page) {
          for (const object of page) {
            const key = keyString(object.metadata);
            if (!hasFinalizer(object, declarations.finalizers)) continue;
            if (kinds.primary?.store.has(key) === true || !isMeant(object)) continue;
            pendingFinalizations.add(key, plainObject(object));
            queue.add(key, { cause: leftCause(object) });
          }
        },
      });
    }
  }
}
