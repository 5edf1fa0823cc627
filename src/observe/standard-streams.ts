/** Writes to standard error and standard output so that nothing is lost when the process ends. */
import { writeSync } from "node:fs";

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;
/** Milliseconds for which a line on standard error waits for a reader whose pipe is full. */
const PATIENCE = 1000;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Thrown when standard output cannot be written. */
class OutputError extends Error {
  override readonly name = "UserError" as const;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "no space left on device",
  EPIPE: "nobody reads it any more",
  EBADF: "it is closed",
};

/**
 * Writes a line at once. `process.stderr` loses what a slow reader has not read when the process exits, and ends the
 * process when the reader is gone; here such a line is dropped.
 */
export function writeToStandardError(line: string): void {
  try {
    write(STANDARD_ERROR, line, PATIENCE);
  } catch {
    // There is nobody who could be told.
  }
}

/** Writes the whole text, and waits for a slow reader. @throws OutputError when it cannot be written. */
export function writeToStandardOutput(text: string): void {
  try {
    write(STANDARD_OUTPUT, text, Infinity);
  } catch (error) {
    throw new OutputError(`Cannot write to standard output: ${REASONS[codeOf(error) ?? ""] ?? String(error)}`);
  }
}

/** @param patience the total milliseconds to wait while a non-blocking pipe is full. @throws the system's error */
function write(descriptor: number, text: string, patience: number): void {
  let rest: Uint8Array = Buffer.from(text);
  let waited = 0;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (codeOf(error) !== "EAGAIN" || waited++ >= patience) throw error;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
