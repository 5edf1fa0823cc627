/** Makes the queue of a controller from its author's options. */
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import { DEFAULT_BACK_OFF, exponential, type RateLimiter } from "../queue/rate-limiter.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { parseDuration } from "../resource/duration.ts";
import type { ControllerScope } from "./controller-scope.ts";

export interface ControllerQueueOptions {
  readonly metrics: QueueMetrics;
  /** What the author's `retry.limiter` has made. @default exponential back-off */
  readonly limiter: RateLimiter | undefined;
  /** The queue of the previous version, which continues with the options of this one. @default a new queue */
  readonly before: WorkQueue | undefined;
  /** Called when a key is ready. */
  readonly onReady: () => void;
}

export function controllerQueue(
  { controller, declarations, runtime }: ControllerScope,
  { metrics, limiter, before, onReady }: ControllerQueueOptions,
): WorkQueue {
  const { retry = {}, minInterval = 0, debounce = 0 } = controller;
  const { first = DEFAULT_BACK_OFF.first, max = DEFAULT_BACK_OFF.max } = retry;
  const settings = {
    onReady,
    limiter: limiter ?? exponential(parseDuration(first, "retry.first"), parseDuration(max, "retry.max")),
    minInterval: parseDuration(minInterval, "minInterval"),
    debounce: parseDuration(debounce, "debounce"),
  };
  if (before === undefined)
    return new WorkQueue({ ...settings, name: declarations.name, clock: runtime.clock, metrics });
  before.configure(settings);
  return before;
}
