/** Ends the process from any thread. */

/** The file of the C library, on systems that have one. */
const LIBRARIES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ["libc.so.6", "libc.so"],
  darwin: ["libSystem.B.dylib"],
};

/**
 * Ends the process at once, even while its JavaScript thread is busy: `process.exit` in another thread ends only that
 * thread. Where the C library cannot be called, the process is killed, and has no exit status.
 */
export async function exitNow(status: number): Promise<void> {
  for (const library of LIBRARIES[process.platform] ?? []) {
    try {
      const { dlopen } = await import("bun:ffi");
      dlopen(library, { _exit: { args: ["int"], returns: "void" } }).symbols._exit(status);
    } catch {
      // The library may exist under the next name.
    }
  }
  process.kill(process.pid, "SIGKILL");
}
