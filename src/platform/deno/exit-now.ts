/** Ends the process from any thread. */
import { deno } from "./deno.ts";

/** The C library, where systems have it. */
const LIBRARIES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ["libc.so.6", "libc.so"],
  darwin: ["libSystem.B.dylib"],
};

/**
 * Ends the process at once, also while the thread that runs its JavaScript is busy: `process.exit` of another thread
 * ends that thread alone. Calling the C library takes `--allow-ffi`; without it the process is killed, and has no exit
 * status.
 */
export function exitNow(status: number): Promise<void> {
  for (const library of LIBRARIES[process.platform] ?? []) {
    try {
      deno.dlopen(library, { _exit: { parameters: ["i32"], result: "void" } }).symbols._exit(status);
    } catch {
      // The next one may be there, and permitted.
    }
  }
  process.kill(process.pid, "SIGKILL");
  return Promise.resolve();
}
