/** Variables of the environment that the runtime under this program reads for itself. */

/**
 * Those that would change what the program does, or tell what it should not: options and code to run first, a debugger's
 * port, requests with their tokens on standard error, files that modules are looked for in.
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

/** The environment without them. */
export function withoutRuntimeVariables(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !NAMES.includes(name)));
}

/** Whether one of them is set. */
export function hasRuntimeVariables(env: Environment): boolean {
  return NAMES.some((name) => env[name] !== undefined);
}
