/** A controller from its start to its stop, as the rest of the process sees it. */
import type { WorkQueue } from "../queue/work-queue.ts";
import type { ControllerState } from "./controller-state.ts";
import type { Duty } from "./duty.ts";
import type { Handover } from "./handover.ts";
import type { Invoke } from "./object-reconciler.ts";
import type { Retirement } from "./retirement.ts";

export interface StartOptions {
  /** The module that the controller comes from, for logs and messages. */
  readonly module: string;
  /** Calls into the author's code in the context of its module. */
  readonly invoke: Invoke;
  /** The version before, which hands over to this one. @default none */
  readonly before?: RunningController | undefined;
}

export interface RunningController {
  readonly name: string;
  readonly module: string;
  readonly state: ControllerState;
  /** Its caches have synced once. */
  readonly hasSynced: boolean;
  /** Of this controller and its earlier names; empty when it finalizes nothing. */
  readonly finalizers: readonly string[];
  /** Runs that were told to stop and have not settled. */
  readonly stuck: readonly { readonly key: string; readonly since: number }[];
  readonly queue: WorkQueue;
  onChange(listener: () => void): Disposable;
  /**
   * It reconciles no more, and finalizes until no object carries its finalizers. Resolves when no run reconciles any more.
   * Only for a controller that has finalizers, and once.
   */
  retire(duty: Exclude<Duty, "reconcile">, options: { readonly grace: number }): Promise<Retirement>;
  /** Queues every key. */
  reconcileAll(): void;
  /** Quiesces, and leaves queue and events to the next version. Runs under way end with {@link stop}. */
  handOver(): Handover;
  /** No source brings keys any more and no run begins; those under way are told by their signals, and go on. */
  quiesce(): void;
  /** Runs begin as usual again, although they have failed. */
  resume(): void;
  /** Resolves when no run is under way. */
  drained(): Promise<void>;
  /** Quiesces; runs under way have `grace` milliseconds to end, then their writes are refused. */
  stop(options: { readonly grace: number }): Promise<void>;
}
