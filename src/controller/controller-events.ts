/** Handles the events of one controller: adds keys to the queue, and forgets deleted objects. */
import { type ClientCore, KubeClient } from "../client/kube-client.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { AddOptions, WorkQueue } from "../queue/work-queue.ts";
import { childId } from "../reconcile/owned-kind.ts";
import { appliedAnnotation } from "../reconcile/owner.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { type EventMappingHost, type OwnNews, ownNewsOf } from "./event-mapping.ts";
import type { FailureReports } from "./failure-reports.ts";
import type { PendingFinalizations } from "./pending-finalizations.ts";
import type { WatchedKinds } from "./watched-kinds.ts";
import { within } from "./within.ts";
import type { Workers } from "./workers.ts";

export interface ControllerEventsParts {
  readonly core: ClientCore;
  readonly queue: WorkQueue;
  readonly workers: Pick<Workers, "addAfterRun">;
  readonly kinds: Pick<WatchedKinds, "listedPrimary">;
  readonly reports: Pick<FailureReports, "forget">;
  readonly pendingFinalizations: PendingFinalizations;
  readonly pendingEnqueues: PendingEnqueues;
  /** Whether the workers have started; before that, they wait for pending enqueues. */
  readonly isWorking: () => boolean;
  /** Ends the requests of `enqueue` functions. */
  readonly mapping: AbortSignal;
}

export class ControllerEvents implements EventMappingHost {
  readonly controller: string;
  readonly finalizers: readonly string[];
  readonly ownNews: OwnNews;
  readonly client: KubeClient;
  readonly history: EventMappingHost["history"];
  readonly call: ControllerScope["call"];
  readonly #scope: ControllerScope;
  readonly #parts: ControllerEventsParts;
  readonly #appliedAnnotation: string;
  /** Replaces the causes of the events that are delivered while it is set. */
  cause: Cause | undefined;

  constructor(scope: ControllerScope, parts: ControllerEventsParts) {
    const { controller, declarations, gate } = scope;
    this.controller = declarations.name;
    this.finalizers = declarations.finalizers;
    this.ownNews = ownNewsOf(controller);
    this.client = new KubeClient(parts.core, { gate, requestSignal: parts.mapping, origin: "" });
    this.history = scope.runtime.history;
    this.call = scope.call;
    this.#scope = scope;
    this.#parts = parts;
    this.#appliedAnnotation = appliedAnnotation(this.controller);
  }

  primary(key: string): AnyObject | undefined {
    return this.#parts.kinds.listedPrimary?.store.get(key);
  }

  isClusterScoped(resource: Resource): boolean {
    const mapping = this.#scope.runtime.mapper.known(resource);
    return mapping === undefined ? resource.scope === "Cluster" : !mapping.namespaced;
  }

  pending(work: Promise<unknown>): void {
    const { pendingEnqueues, isWorking } = this.#parts;
    pendingEnqueues.add(work, !isWorking());
  }

  add(key: string, options: AddOptions): void {
    this.#parts.queue.add(key, this.cause === undefined ? options : { ...options, cause: this.cause });
  }

  addAfterRun(key: string, options: AddOptions): void {
    const { workers, queue } = this.#parts;
    if (!workers.addAfterRun(key, options)) queue.add(key, options);
  }

  leftSelector(key: string, object: AnyObject): void {
    this.#parts.pendingFinalizations.add(key, object);
  }

  gone(key: string): void {
    const { queue, reports, core } = this.#parts;
    queue.forget(key);
    reports.forget(key);
    core.applied.forget(`status:${key}`);
  }

  childChanged(resource: Resource, { metadata }: AnyObject, old: AnyObject): void {
    const names = old.metadata.annotations?.[this.#appliedAnnotation];
    if (names === undefined || names === metadata.annotations?.[this.#appliedAnnotation]) return;
    this.#parts.core.applied.keepNames(childId(resource, keyString(metadata)), { uid: metadata.uid, names });
  }

  childGone(resource: Resource, key: string): void {
    this.#parts.core.applied.forget(childId(resource, key));
  }
}

const DEADLINE_MS = 30_000;

export class PendingEnqueues {
  readonly #clock: Clock;
  readonly #log: Log;
  #pending: Promise<unknown>[] = [];
  /** Every function that has not settled, whether or not the start waits for it. */
  readonly #open = new Set<Promise<unknown>>();

  constructor({ runtime, log }: ControllerScope) {
    this.#clock = runtime.clock;
    this.#log = log;
  }

  /** @param awaited whether `answered` waits for it too. */
  add(work: Promise<unknown>, awaited: boolean): void {
    const guarded = work.catch((error: unknown) => this.#log.error("An 'enqueue' function failed", { error }));
    this.#open.add(guarded);
    void guarded.finally(() => this.#open.delete(guarded));
    if (awaited) this.#pending.push(guarded);
  }

  /** Resolves when everything that was added has settled. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  /** Waits for all calls, and for those that are added meanwhile, up to a deadline. */
  async answered(): Promise<void> {
    const deadline = this.#clock.now() + DEADLINE_MS;
    while (this.#pending.length > 0) {
      const work = Promise.all(this.#pending.splice(0)).then(() => undefined);
      if (await within(deadline - this.#clock.now(), { work, clock: this.#clock })) continue;
      const seconds = DEADLINE_MS / 1000;
      this.#log.warn(`An 'enqueue' function has not answered for ${seconds} s: runs begin without it`);
      return;
    }
  }
}
