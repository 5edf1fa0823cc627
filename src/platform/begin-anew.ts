/** The process of a built program: begun anew where the runtime should begin differently. */
import { hasRuntimeVariables, withoutRuntimeVariables } from "./runtime-variables.ts";

/** Which of the runtime's compilers work for us. */
const SETTING = "BUN_JSC_useFTLJIT";

export interface BeginOptions {
  /**
   * Without the last of the compilers, which is made for loops that compute for seconds. A process that waits for a server most
   * of the time pays for it, a fifth of the CPU of 2,000 reconciles and 2 MiB at the start, and gets nothing back. The
   * setting of whoever starts the process counts for more.
   */
  readonly withoutLastCompiler: boolean;
}

/**
 * Starts this executable anew in the same process where the environment, which the runtime reads before any code of ours, is
 * not as it should be: it sets {@link BeginOptions.withoutLastCompiler}, and takes out the variables by which the runtime
 * would do other things than this program.
 *
 * Returns where nothing is to be done, or cannot be: on Windows.
 */
export function beginAnew(args: readonly string[], { withoutLastCompiler }: BeginOptions): void {
  const sets = withoutLastCompiler && process.env[SETTING] === undefined;
  if ((!sets && !hasRuntimeVariables(process.env)) || typeof process.execve !== "function") return;
  const env = { ...withoutRuntimeVariables(process.env), ...(sets && { [SETTING]: "0" }) };
  try {
    process.execve(process.execPath, [process.argv0, ...args], env);
  } catch {
    // Then as it is.
  }
}
