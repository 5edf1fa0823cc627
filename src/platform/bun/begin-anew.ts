/** Restarts a built program where the runtime must be configured before its first line. */
import { passEnvironment } from "./self.ts";
import { hasRuntimeVariables, withoutRuntimeVariables } from "../runtime-variables.ts";

/**
 * Settings of the runtime for a process that mostly waits for a server. Settings of the environment take precedence.
 *
 * - Without the last compiler, which pays off only for loops that compute for seconds: it takes a fifth of the CPU of
 * 2,000   reconciles and 2 MiB at the start, without a gain.
 * - As on a machine of 128 MiB, where the heap grows by a quarter between collections from 64 MiB on. By default it may
 * double   as long as it takes less than a quarter of the machine's memory. A process with a limit on its memory has
 * even less.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  BUN_JSC_useFTLJIT: "0",
};
/**
 * The assumed memory in bytes. With a limit it is half of that, because the other half is for the program and for
 * memory outside of the heap.
 */
const RAM_SIZE = 128 * 1024 * 1024;
const PART_OF_LIMIT = 1 / 2;
/**
 * The variable with the names of the settings with which we restarted the process; its children must not inherit them.
 */
const MARK = "_BINNACLE_STARTED_ANEW";

export interface BeginOptions {
  /** Whether the process is a controller process, for which the runtime has settings of its own. */
  readonly isTuned: boolean;
  /** The limit on the memory of the process in bytes. @default none */
  readonly memory?: (() => number | undefined) | undefined;
}

/**
 * Restarts this executable in the same process if the environment, which the runtime reads before any code of ours,
 * must change: it applies the settings for {@link BeginOptions.isTuned} and removes the variables that would make the
 * runtime do something other than this program.
 *
 * It returns if no change is necessary, or possible, as on Windows. The variables that it has set are then gone from
 * `process.env`, so that child processes do not inherit them.
 */
export function beginAnew(args: readonly string[], { isTuned, memory }: BeginOptions): void {
  const applied = process.env[MARK];
  if (applied !== undefined) {
    for (const name of [MARK, ...applied.split(",")]) delete process.env[name];
    passEnvironment();
    return;
  }
  const settings = Object.entries(isTuned ? settingsFor(memory?.()) : {}).filter(
    ([name]) => process.env[name] === undefined,
  );
  if ((settings.length === 0 && !hasRuntimeVariables(process.env)) || typeof process.execve !== "function") return;
  const env: Record<string, string | undefined> = {
    ...withoutRuntimeVariables(process.env),
    ...Object.fromEntries(settings),
  };
  if (settings.length > 0) env[MARK] = settings.map(([name]) => name).join();
  try {
    process.execve(process.execPath, [process.argv0, ...args], env);
  } catch {
    // The restart failed, so the program runs without these settings.
  }
}

function settingsFor(memory = Infinity): Readonly<Record<string, string>> {
  return { ...SETTINGS, BUN_JSC_forceRAMSize: String(Math.floor(Math.min(RAM_SIZE, memory * PART_OF_LIMIT))) };
}
