/** Restarts a built program where the runtime must be configured before its first line. */
import { hasRuntimeVariables, withoutRuntimeVariables } from "./runtime-variables.ts";

/** The variable that enables or disables the runtime's optimizing compiler. */
const SETTING = "BUN_JSC_useFTLJIT";
/** Marks a process that was restarted with a setting of ours, which its children must not inherit. */
const MARK = "_BINNACLE_STARTED_ANEW";

export interface BeginOptions {
  /**
   * Disables the last of the compilers, which pays off only for loops that compute for seconds. A process that mostly
   * waits for a server spends a fifth of the CPU of 2,000 reconciles and 2 MiB at the start on it, without a gain.
   * The environment takes precedence: `BUN_JSC_useFTLJIT=1` keeps the compiler.
   */
  readonly withoutLastCompiler: boolean;
}

/**
 * Restarts this executable in the same process if the environment, which the runtime reads before any code of ours,
 * must change: it applies {@link BeginOptions.withoutLastCompiler} and removes the variables that would make the
 * runtime do something other than this program.
 *
 * It returns if no change is necessary, or possible, as on Windows. The variables that it has set are then gone from
 * `process.env`, so that child processes do not inherit them.
 */
export function beginAnew(args: readonly string[], { withoutLastCompiler }: BeginOptions): void {
  if (process.env[MARK] !== undefined) {
    delete process.env[MARK];
    delete process.env[SETTING];
    passEnvironment();
    return;
  }
  const sets = withoutLastCompiler && process.env[SETTING] === undefined;
  if ((!sets && !hasRuntimeVariables(process.env)) || typeof process.execve !== "function") return;
  const env = { ...withoutRuntimeVariables(process.env), ...(sets && { [SETTING]: "0", [MARK]: "1" }) };
  try {
    process.execve(process.execPath, [process.argv0, ...args], env);
  } catch {
    // The program runs as it is.
  }
}

/** By default `Bun.spawn` gives children the environment with which this process began. */
function passEnvironment(): void {
  for (const name of ["spawn", "spawnSync"] as const) {
    const spawn = Bun[name] as (...given: unknown[]) => unknown;
    const withEnvironment = (first: object, options?: object): unknown =>
      Array.isArray(first) ? spawn(first, { env: process.env, ...options }) : spawn({ env: process.env, ...first });
    Object.assign(Bun, { [name]: withEnvironment });
  }
}
