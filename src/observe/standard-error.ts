/** Writes to standard error so that nothing is lost when the process ends. */
import { writeSync } from "node:fs";

const STANDARD_ERROR = 2;
/** How many milliseconds to wait for a full non-blocking pipe. */
const PATIENCE = 1000;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes a line at once. `process.stderr` loses what a slow reader has not read when the process exits, and ends the
 * process when the reader is gone; here such a line is dropped.
 */
export function writeToStandardError(line: string): void {
  let rest: Uint8Array = Buffer.from(line);
  let waited = 0;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STANDARD_ERROR, rest));
    } catch (error) {
      if (!isFull(error) || waited++ >= PATIENCE) return;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}
