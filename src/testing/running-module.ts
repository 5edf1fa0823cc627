/** A module that `runModule` runs. */
import type { LogLevel } from "../observe/log.ts";

/** One line of a module's log. */
export interface LogLine {
  readonly level: LogLevel;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface RunningModule extends AsyncDisposable {
  /** From `info` up, the SDK's own lines included. */
  readonly log: readonly LogLine[];
  /** Whether it works: always, unless it shares a Lease with others. */
  readonly isLeader: boolean;
  /** Waits until no object has been queued or running for so many milliseconds. @default 50 */
  idle(quiet?: number): Promise<void>;
  /** Lets runs under way finish, and ends. */
  stop(): Promise<void>;
}
