/** Handles the events of one controller: adds keys to the queue, and forgets what was remembered of deleted objects. */
import type { AppliedMemory } from "../client/applied-memory.ts";
import type { KubeClient } from "../client/kube-client.ts";
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Log } from "../observe/log.ts";
import type { AddOptions, WorkQueue } from "../queue/work-queue.ts";
import { childId } from "../reconcile/owned-kind.ts";
import { appliedAnnotation } from "../reconcile/owner.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { EventMappingHost, OwnNews } from "./event-mapping.ts";
import type { FailureReports } from "./failure-reports.ts";
import type { Invoke } from "./object-reconciler.ts";
import type { PendingEnqueues } from "./pending-enqueues.ts";
import type { PendingFinalizations } from "./pending-finalizations.ts";
import type { WatchedKinds } from "./watched-kinds.ts";
import type { Workers } from "./workers.ts";

export interface ControllerEventsOptions {
  readonly controller: string;
  readonly finalizers: readonly string[];
  readonly ownNews: OwnNews;
  readonly client: KubeClient;
  readonly queue: WorkQueue;
  readonly workers: Pick<Workers, "addAfterRun">;
  readonly kinds: Pick<WatchedKinds, "listedPrimary">;
  readonly mapper: Pick<RestMapper, "known">;
  readonly reports: Pick<FailureReports, "forget">;
  readonly memory: Pick<AppliedMemory, "forget" | "keepNames">;
  readonly pendingFinalizations: PendingFinalizations;
  readonly pendingEnqueues: PendingEnqueues;
  /** Whether the workers have started; before that, they wait for pending enqueues. */
  readonly isWorking: () => boolean;
  /** Calls a function of the author. */
  readonly invoke: Invoke;
  readonly log: Log;
}

export class ControllerEvents implements EventMappingHost {
  readonly controller: string;
  readonly finalizers: readonly string[];
  readonly ownNews: OwnNews;
  readonly client: KubeClient;
  readonly #options: ControllerEventsOptions;
  readonly #appliedAnnotation: string;
  /** Replaces the causes of the events that are delivered while it is set. */
  cause: Cause | undefined;

  constructor(options: ControllerEventsOptions) {
    this.controller = options.controller;
    this.finalizers = options.finalizers;
    this.ownNews = options.ownNews;
    this.client = options.client;
    this.#options = options;
    this.#appliedAnnotation = appliedAnnotation(options.controller);
  }

  call<T>(what: string, call: () => T): T | undefined {
    try {
      return this.#options.invoke(call);
    } catch (error) {
      this.#options.log.error(`A '${what}' function threw`, { error });
      return undefined;
    }
  }

  primary(key: string): AnyObject | undefined {
    return this.#options.kinds.listedPrimary?.store.get(key);
  }

  isClusterScoped(resource: Resource): boolean {
    const mapping = this.#options.mapper.known(resource);
    return mapping === undefined ? resource.scope === "Cluster" : !mapping.namespaced;
  }

  pending(work: Promise<unknown>): void {
    const { pendingEnqueues, isWorking } = this.#options;
    pendingEnqueues.add(work, !isWorking());
  }

  add(key: string, options: AddOptions): void {
    this.#options.queue.add(key, this.cause === undefined ? options : { ...options, cause: this.cause });
  }

  addAfterRun(key: string, options: AddOptions): void {
    const { workers, queue } = this.#options;
    if (!workers.addAfterRun(key, options)) queue.add(key, options);
  }

  leftSelector(key: string, object: AnyObject): void {
    this.#options.pendingFinalizations.add(key, object);
  }

  gone(key: string): void {
    const { queue, reports, memory } = this.#options;
    queue.forget(key);
    reports.forget(key);
    memory.forget(`status:${key}`);
  }

  childChanged(resource: Resource, { metadata }: AnyObject, old: AnyObject): void {
    const names = old.metadata.annotations?.[this.#appliedAnnotation];
    if (names === undefined || names === metadata.annotations?.[this.#appliedAnnotation]) return;
    this.#options.memory.keepNames(childId(resource, keyString(metadata)), { uid: metadata.uid, names });
  }

  childGone(resource: Resource, key: string): void {
    this.#options.memory.forget(childId(resource, key));
  }
}
