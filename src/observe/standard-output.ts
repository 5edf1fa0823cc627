/** Writes to standard output so that nothing is lost without an error. */
import { writeSync } from "node:fs";

const STANDARD_OUTPUT = 1;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Thrown when standard output cannot be written. */
class OutputError extends Error {
  override readonly name = "UserError" as const;
}

/** Writes the whole text, and waits for a slow reader. @throws OutputError when it cannot be written. */
export function writeToStandardOutput(text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STANDARD_OUTPUT, rest));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (code !== "EAGAIN")
        throw new OutputError(`Cannot write to standard output: ${REASONS[code] ?? String(error)}`);
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "no space left on device",
  EPIPE: "nobody reads it any more",
  EBADF: "it is closed",
};
