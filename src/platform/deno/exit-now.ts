/** Ends the process from any thread. */

/**
 * Ends the process at once, also while the thread that runs its JavaScript is busy: `process.exit` of another thread ends that
 * thread alone. The process is killed, and has no exit status; Deno permits that only with `--allow-run`.
 */
export function exitNow(_status: number): Promise<void> {
  process.kill(process.pid, "SIGKILL");
  return Promise.resolve();
}
