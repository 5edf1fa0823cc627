/** Ends the process from any thread. */
import { deno } from "./deno.ts";

/** The file of the C library, on systems that have one. */
const LIBRARIES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ["libc.so.6", "libc.so"],
  darwin: ["libSystem.B.dylib"],
};

/**
 * Ends the process at once, even while its JavaScript thread is busy: `process.exit` in another thread ends only that
 * thread. Calling the C library takes `--allow-ffi`; without it the process is killed, and has no exit status.
 */
export function exitNow(status: number): Promise<void> {
  for (const library of LIBRARIES[process.platform] ?? []) {
    try {
      deno.dlopen(library, { _exit: { parameters: ["i32"], result: "void" } }).symbols._exit(status);
    } catch {
      // The library may exist under the next name, and be permitted.
    }
  }
  process.kill(process.pid, "SIGKILL");
  return Promise.resolve();
}
