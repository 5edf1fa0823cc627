/** The deadline of a controller's runs. */
import type { Clock } from "../platform/clock.ts";

/** How long a run may take. */
export interface RunLimit {
  /** The limit as text, for messages. */
  readonly text: string;
  /** Calls back at the deadline, unless disposed of before. */
  start(onDeadline: () => void): Disposable;
}

/** Makes a limit in milliseconds. */
export function runLimit(ms: number, clock: Clock): RunLimit {
  return { text: `${ms} ms`, start: (onDeadline) => clock.setTimeout(onDeadline, ms) };
}

/** The error of a run that ended after its deadline. */
export function timeoutError(limit: RunLimit): Error {
  return new Error(`Reconcile took longer than ${limit.text}`);
}
