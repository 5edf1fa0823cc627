/** The deadline of a controller's runs. */
import type { Clock } from "../platform/clock.ts";
import { type Duration, parseDuration } from "../resource/duration.ts";

/** How long a run may take. */
export interface RunLimit {
  /** The limit as text, for messages. */
  readonly text: string;
  /** Calls back at the deadline unless it was disposed before. */
  start(onDeadline: () => void): Disposable;
}

/** The limit that a controller's `timeout` sets; `undefined` for none. */
export function runLimit(timeout: Duration | undefined, clock: Clock): RunLimit | undefined {
  if (timeout === undefined) return undefined;
  const ms = parseDuration(timeout, "timeout");
  return { text: `${ms} ms`, start: (onDeadline) => clock.setTimeout(onDeadline, ms) };
}

/** The error of a run that ended after its deadline. */
export function timeoutError(limit: RunLimit): Error {
  return new Error(`Reconcile took longer than ${limit.text}`);
}
