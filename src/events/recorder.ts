/** Recording Kubernetes Events, in `events.k8s.io/v1` only. */
import type { WriteGate } from "../client/write-gate.ts";
import type { Transport } from "../kube/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { EventSeries } from "./event-series.ts";

/** What happened, for `kubectl events` and `kubectl describe`. */
export interface EventInput {
  readonly type: "Normal" | "Warning";
  /** A short word in UpperCamelCase; cut to 128 characters. */
  readonly reason: string;
  /** What the controller did or refused to do; cut to 128 characters. @default the reason */
  readonly action?: string | undefined;
  /** For people; cut to 1024 bytes. */
  readonly message: string;
}

/** Records what one controller has to say; never waits and never throws. */
export interface ControllerEvents {
  record(regarding: AnyObject, event: EventInput): void;
}

/**
 * Sends Events in the background.
 *
 * **Guarantees.** Recording never blocks or fails a reconcile: at most 1,000 Events wait, further ones are dropped
 * and counted. Equal Events become one with a growing `series.count`.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
 */
export interface EventRecorder {
  for(controller: string): ControllerEvents;
  /** Waits until all Events recorded so far were sent or given up. @throws the signal's reason. */
  flush(signal?: AbortSignal): Promise<void>;
  /** Sends what is waiting, once and without retries, and stops; later Events are dropped. */
  close(): Promise<void>;
  /** Events that were not sent. */
  readonly dropped: number;
}

export interface EventRecorderOptions {
  readonly transport: Pick<Transport, "request">;
  readonly gate: WriteGate;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, "eventDropped"> | undefined;
  /** The host's name: part of the Events' `reportingInstance`. */
  readonly instance: string;
}

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new EventSeries(options);
}
