/** A module that `runModule` runs. */
import type { LogLevel } from "../observe/log.ts";

/** One line of a module's log. */
export interface LogLine {
  readonly level: LogLevel;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface RunningModule extends AsyncDisposable {
  /** The lines from level `info` up, including the SDK's own. */
  readonly log: readonly LogLine[];
  /** Whether it works: always, unless it shares a Lease with others. */
  readonly isLeader: boolean;
  /** Waits until no object has been queued or running for so many milliseconds. @default 50 */
  idle(quiet?: number): Promise<void>;
  /** Lets active runs finish, and ends the module. */
  stop(): Promise<void>;
}
