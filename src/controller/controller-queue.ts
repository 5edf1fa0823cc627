/** Makes the queue of a controller from its author's options. */
import type { QueueMetrics } from "../observe/queue-metrics.ts";
import type { Clock } from "../platform/clock.ts";
import { DEFAULT_BACK_OFF, exponential } from "../queue/rate-limiter.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { parseDuration } from "../resource/duration.ts";
import type { AnyController } from "./definition.ts";

export interface ControllerQueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: QueueMetrics;
  readonly onReady: () => void;
}

export function controllerQueue(controller: AnyController, options: ControllerQueueOptions): WorkQueue {
  const { retry = {}, minInterval = 0, debounce = 0 } = controller;
  const { first = DEFAULT_BACK_OFF.first, max = DEFAULT_BACK_OFF.max, limiter } = retry;
  return new WorkQueue({
    ...options,
    limiter: limiter?.() ?? exponential(parseDuration(first, "retry.first"), parseDuration(max, "retry.max")),
    minInterval: parseDuration(minInterval, "minInterval"),
    debounce: parseDuration(debounce, "debounce"),
  });
}
