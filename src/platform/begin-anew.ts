/** Starts a built program anew where the runtime must be configured before its first line. */
import { hasRuntimeVariables, withoutRuntimeVariables } from "./runtime-variables.ts";

/** Switches the optimizing compiler of the runtime on and off. */
const SETTING = "BUN_JSC_useFTLJIT";
/** Marks a process that was started anew with a setting of ours, which its children must not inherit. */
const MARK = "_BINNACLE_STARTED_ANEW";

export interface BeginOptions {
  /**
   * Do without the last of the compilers, which pays off for loops that compute for seconds. A process that mostly waits for
   * a server spends on it a fifth of the CPU of 2,000 reconciles and 2 MiB at the start, and gains nothing. The setting of
   * the environment takes precedence: `BUN_JSC_useFTLJIT=1` keeps the compiler.
   */
  readonly withoutLastCompiler: boolean;
}

/**
 * Starts this executable anew in the same process if the environment, which the runtime reads before any code of ours, needs
 * to be changed: it applies {@link BeginOptions.withoutLastCompiler} and removes the variables that would make the runtime
 * do something else than this program.
 *
 * Returns if nothing needs to be changed, or if it cannot be, as on Windows. What it has set is then gone from
 * `process.env`, so that child processes do not inherit it.
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

/** `Bun.spawn` gives children the environment with which this process began, unless it is told otherwise. */
function passEnvironment(): void {
  for (const name of ["spawn", "spawnSync"] as const) {
    const spawn = Bun[name] as (...given: unknown[]) => unknown;
    const withEnvironment = (first: object, options?: object): unknown =>
      Array.isArray(first) ? spawn(first, { env: process.env, ...options }) : spawn({ env: process.env, ...first });
    Object.assign(Bun, { [name]: withEnvironment });
  }
}
