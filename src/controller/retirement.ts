/**
 * Ends a controller whose module leaves: it no longer reconciles, and finalizes until no object has its finalizers.
 *
 * An object with the finalizer of a removed controller could never be deleted.
 */
import type { WorkQueue } from "../queue/work-queue.ts";
import { hasFinalizer } from "../reconcile/finalizer.ts";
import type { KeyRun } from "../reconcile/key-run.ts";
import { ObjectRun } from "../reconcile/object-run.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { ControllerScope } from "./controller-scope.ts";
import { type EndReason, endRuns } from "./end-runs.ts";
import type { MissedFinalizations, PendingFinalizations } from "./pending-finalizations.ts";
import type { Duty, ReconcileExecutor } from "./reconcile-executor.ts";
import type { WatchedKinds } from "./watched-kinds.ts";
import { within } from "./within.ts";
import type { Workers } from "./workers.ts";

/** The known objects with a finalizer of the controller. */
export interface Holders {
  readonly kind: string;
  readonly objects: number;
  /** How many of them are being deleted. */
  readonly deleting: number;
  /** The key of any of them. */
  readonly example: string | undefined;
}

export interface RetirementParts {
  readonly executor: ReconcileExecutor;
  readonly workers: Workers;
  readonly kinds: WatchedKinds;
  readonly queue: WorkQueue;
  readonly pendingFinalizations: PendingFinalizations;
  readonly missed: MissedFinalizations;
}

const UNINSTALLED = Object.freeze({ source: "uninstall", type: "generic" });
const LEAVING: EndReason = {
  going: "its module is leaving",
  gone: "its module has left",
  consequence: "; they can no longer write anything",
};

export class Retirement implements Disposable {
  /** Resolves when no object has a finalizer of the controller; it never rejects. */
  readonly ended: Promise<void>;
  readonly #scope: ControllerScope;
  readonly #parts: RetirementParts;
  readonly #end = Promise.withResolvers<void>();
  readonly #cleanup = new DisposableStack();
  /** The cached objects with a finalizer of the controller, by key, and whether they are being deleted. */
  readonly #carrying = new Map<string, boolean>();
  #hasLooked = false;
  #hasEnded = false;

  /** @param scope of a controller with finalizers */
  constructor(scope: ControllerScope, parts: RetirementParts) {
    this.#scope = scope;
    this.#parts = parts;
    this.ended = this.#end.promise;
  }

  /** Whether no object has a finalizer of the controller. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get holders(): Holders {
    const { pendingFinalizations: pending } = this.#parts;
    const { kind } = this.#scope.declarations.for!.resource;
    let deleting = 0;
    for (const isDeleting of this.#carrying.values()) if (isDeleting) deleting++;
    const [example] = this.#carrying.keys();
    return { kind, objects: this.#carrying.size + pending.size, deleting, example: example ?? pending.first };
  }

  /**
   * Begins. Runs that reconcile have `grace` milliseconds to end, then their writes are refused. Only after that can
   * no finalizer be added any more.
   */
  async begin(duty: Exclude<Duty, "reconcile">, { grace }: { readonly grace: number }): Promise<void> {
    const { executor, workers, kinds, missed, pendingFinalizations } = this.#parts;
    executor.duty = duty;
    pendingFinalizations.onChange = () => this.look();
    const isMeant = (run: KeyRun): boolean => !(run instanceof ObjectRun && run.finalizing);
    await endRuns(this.#scope, { workers, isMeant, grace, because: LEAVING });
    const seen = (object: AnyObject): void => this.#see(object, duty);
    this.#cleanup.use(
      kinds.primary!.addHandler(
        {
          onAdd: seen,
          onUpdate: seen,
          onDelete: ({ metadata }) => {
            this.#carrying.delete(keyString(metadata));
            this.look();
          },
        },
        { name: "retirement" },
      ),
    );
    const everywhere = duty !== "drain";
    const looked = missed.find({ everywhere }).then(() => {
      this.#hasLooked = true;
    });
    await within(grace, { work: looked, clock: this.#scope.runtime.clock });
    this.look();
    if (!this.#hasLooked) void looked.then(() => this.look());
  }

  /** Checks whether it has ended. It is also called when the state of an informer has changed. */
  look(): void {
    if (this.#hasEnded || !this.#isKnown) return;
    if (this.#carrying.size > 0 || this.#parts.pendingFinalizations.size > 0) return;
    this.#hasEnded = true;
    this.#cleanup.dispose();
    this.#end.resolve();
  }

  [Symbol.dispose](): void {
    this.#cleanup.dispose();
  }

  /** Whether all objects that may have a finalizer are known. A kind that does not exist has none. */
  get #isKnown(): boolean {
    const { kinds } = this.#parts;
    return kinds.primary!.state.kind === "waiting" || (this.#hasLooked && kinds.listedPrimary !== undefined);
  }

  #see(object: AnyObject, duty: Duty): void {
    const { queue } = this.#parts;
    const { metadata } = object;
    const key = keyString(metadata);
    if (hasFinalizer(object, this.#scope.declarations.finalizers)) {
      const isNew = !this.#carrying.has(key);
      this.#carrying.set(key, metadata.deletionTimestamp !== undefined);
      if (isNew && duty !== "drain") queue.add(key, { cause: UNINSTALLED });
    } else if (this.#carrying.delete(key)) this.look();
  }
}
