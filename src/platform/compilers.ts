/** Which of the runtime's compilers work for us. */

const SETTING = "BUN_JSC_useFTLJIT";

/**
 * Starts this executable anew in the same process, without the last of the compilers.
 *
 * It is made for loops that compute for seconds. A process that waits for a server most of the time pays for it, a fifth
 * of the CPU of 2,000 reconciles and 2 MiB at the start, and gets nothing back. The runtime reads the setting before any
 * code of ours, and so the process begins again; the setting of whoever starts it counts for more.
 *
 * Returns where nothing is to be done, or cannot be: on Windows, and where the sources run unbuilt.
 */
export function startWithoutLastCompiler(args: readonly string[]): void {
  if (process.env[SETTING] !== undefined || typeof process.execve !== "function") return;
  try {
    process.execve(process.execPath, [process.argv0, ...args], { ...process.env, [SETTING]: "0" });
  } catch {
    // Then with all of them.
  }
}
