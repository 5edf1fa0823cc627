/** The deadline of a controller's runs. */
import type { Clock } from "../platform/clock.ts";

/** How long a run may take. */
export interface RunLimit {
  /** For messages. */
  readonly text: string;
  /** Calls back at the deadline, unless disposed of before. */
  start(onDeadline: () => void): Disposable;
}

/** A limit of so many milliseconds. */
export function runLimit(ms: number, clock: Clock): RunLimit {
  return { text: `${ms} ms`, start: (onDeadline) => clock.setTimeout(onDeadline, ms) };
}

/** The failure of a run that settled after its deadline. */
export function timeoutError(limit: RunLimit): Error {
  return new Error(`Reconcile took longer than ${limit.text}`);
}
