/** Ends the process from any thread. */

/** The C library, where systems have it. */
const LIBRARIES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ["libc.so.6", "libc.so"],
  darwin: ["libSystem.B.dylib"],
};

/**
 * Ends the process at once, also while the thread that runs its JavaScript is busy: `process.exit` of another thread
 * ends that thread alone. Where the C library cannot be called, the process is killed, and has no exit status.
 */
export async function exitNow(status: number): Promise<void> {
  for (const library of LIBRARIES[process.platform] ?? []) {
    try {
      const { dlopen } = await import("bun:ffi");
      dlopen(library, { _exit: { args: ["int"], returns: "void" } }).symbols._exit(status);
    } catch {
      // The next one may be there.
    }
  }
  process.kill(process.pid, "SIGKILL");
}
