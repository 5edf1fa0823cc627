/** Environment variables that the runtime below this program reads itself. */

/**
 * Variables that would change what the program does, or reveal secrets: options and code that runs first, a
 * debugger's port, requests with their tokens on standard error, folders in which modules are searched.
 */
const NAMES: readonly string[] = [
  "BUN_OPTIONS",
  "BUN_INSPECT",
  "BUN_INSPECT_CONNECT_TO",
  "BUN_INSPECT_NOTIFY",
  "BUN_INSPECT_PRELOAD",
  "BUN_CONFIG_VERBOSE_FETCH",
  "BUN_RUNTIME_TRANSPILER_CACHE_PATH",
  "NODE_OPTIONS",
  "NODE_PATH",
];

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the environment without these variables. */
export function withoutRuntimeVariables(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !NAMES.includes(name)));
}

/** Whether one of these variables is set. */
export function hasRuntimeVariables(env: Environment): boolean {
  return NAMES.some((name) => env[name] !== undefined);
}
