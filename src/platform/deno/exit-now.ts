/** Ends the process from any thread. */
import { writeSync } from "node:fs";

/**
 * Ends the process at once, also while the thread that runs its JavaScript is busy: `process.exit` of another thread ends that
 * thread alone. The process is killed, and has no exit status.
 *
 * @returns false when Deno does not permit that, which takes `--allow-run`.
 */
export function exitNow(_status: number): Promise<boolean> {
  try {
    process.kill(process.pid, "SIGKILL");
    return Promise.resolve(true);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    writeSync(2, `Cannot end the process: ${reason}\n`);
    return Promise.resolve(false);
  }
}
