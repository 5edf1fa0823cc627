/** Runs this runtime's own tools as other processes. */

export interface ToolResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ToolOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default the working directory */
  readonly cwd?: string | undefined;
  /** Variables to set in addition to this process's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface StartOptions {
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process that shares the standard output of this one. */
export interface StartedTool {
  readonly stderr: AsyncIterable<Uint8Array>;
  /** The exit status. */
  readonly exited: Promise<number>;
  kill(signal: "SIGINT" | "SIGTERM"): void;
}
