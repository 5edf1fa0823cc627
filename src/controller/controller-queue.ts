/** Makes the queue of a controller from its author's options. */
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import type { Clock } from "../platform/clock.ts";
import { DEFAULT_BACK_OFF, exponential, type RateLimiter } from "../queue/rate-limiter.ts";
import { WorkQueue, type WorkQueueSettings } from "../queue/work-queue.ts";
import { parseDuration } from "../resource/duration.ts";
import type { AnyController } from "./definition.ts";

export interface ControllerQueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: QueueMetrics;
  /** The queue of the previous version, which continues with the options of this one. @default a new queue */
  readonly before?: WorkQueue | undefined;
}

/** @param settings from {@link queueSettings}. */
export function controllerQueue(settings: WorkQueueSettings, options: ControllerQueueOptions): WorkQueue {
  const { before, ...about } = options;
  if (before === undefined) return new WorkQueue({ ...settings, ...about });
  before.configure(settings);
  return before;
}

/** Returns the queue's settings from the author's options. @param limiter what the author's `limiter` has made. */
export function queueSettings(
  controller: AnyController,
  limiter: RateLimiter | undefined,
  onReady: () => void,
): WorkQueueSettings {
  const { retry = {}, minInterval = 0, debounce = 0 } = controller;
  const { first = DEFAULT_BACK_OFF.first, max = DEFAULT_BACK_OFF.max } = retry;
  return {
    onReady,
    limiter: limiter ?? exponential(parseDuration(first, "retry.first"), parseDuration(max, "retry.max")),
    minInterval: parseDuration(minInterval, "minInterval"),
    debounce: parseDuration(debounce, "debounce"),
  };
}
