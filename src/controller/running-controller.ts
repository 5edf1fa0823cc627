/** A controller from its start to its stop, as the rest of the process sees it. */
import type { RateLimiter } from "../queue/rate-limiter.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import type { Invoke } from "./controller-scope.ts";
import type { ControllerState } from "./controller-state.ts";
import type { Handover } from "./handover.ts";
import type { Duty } from "./reconcile-executor.ts";
import type { Retirement } from "./retirement.ts";

export interface StartOptions {
  /** The module that the controller comes from, for logs and messages. */
  readonly module: string;
  /** Calls into the author's code in the context of its module. */
  readonly invoke: Invoke;
  /** What the author's code writes the controller's metrics with. @default none */
  readonly metrics?: object | undefined;
  /** What the author's `retry.limiter` has made. @default exponential back-off, as the other options of `retry` say */
  readonly limiter?: RateLimiter | undefined;
  /** The previous version, which hands over to this one. @default none */
  readonly before?: RunningController | undefined;
}

export interface RunningController {
  readonly name: string;
  readonly module: string;
  readonly state: ControllerState;
  /** Whether its caches have synced once. */
  readonly hasSynced: boolean;
  /** The finalizers of this controller and its earlier names; empty when it finalizes nothing. */
  readonly finalizers: readonly string[];
  /** The runs that were asked to stop and have not settled. */
  readonly stuck: readonly { readonly key: string; readonly since: number }[];
  readonly queue: WorkQueue;
  onChange(listener: () => void): Disposable;
  /**
   * Ends reconciling, and finalizes until no object has its finalizers. Resolves when no run reconciles any more. It
   * is only for a controller with finalizers, and may be called once.
   */
  retire(duty: Exclude<Duty, "reconcile">, options: { readonly grace: number }): Promise<Retirement>;
  /** Queues every key. */
  reconcileAll(): void;
  /** Quiesces, and leaves the queue and the events to the next version. Active runs end with {@link stop}. */
  handOver(): Handover;
  /** Ends the sources and begins no more runs. The signals of active runs fire, and these go on. */
  quiesce(): void;
  /** Lets runs begin as usual again, although they have failed. */
  resume(): void;
  /** Resolves when no run is active. */
  drained(): Promise<void>;
  /** Quiesces. Active runs have `grace` milliseconds to end, then their writes are refused. */
  stop(options: { readonly grace: number }): Promise<void>;
}
