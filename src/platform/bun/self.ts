/**
 * Runs this executable as one of its runtime's tools (type checker, test runner), and determines the environment of
 * children.
 */
import { withoutRuntimeVariables } from "../runtime-variables.ts";
import type { StartedTool, StartOptions, ToolOptions, ToolResult } from "../self.ts";

/** Whether a debugger may stop the program: the event loop then pauses because somebody examines it. */
export function isDebugged(): boolean {
  return process.execArgv.some((argument) => argument.startsWith("--inspect"));
}

/** Runs a command of the runtime, such as `bun <args>`, with only this executable. The signal kills it. */
export async function runTool(args: readonly string[], { signal, cwd, env }: ToolOptions = {}): Promise<ToolResult> {
  const child = Bun.spawn([process.execPath, ...args], {
    ...(signal !== undefined && { signal }),
    env: { ...withoutRuntimeVariables(process.env), ...env, BUN_BE_BUN: "1", NO_COLOR: "1" },
    ...(cwd !== undefined && { cwd }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { status, stdout, stderr };
}

/** Starts `bun <args>` with only this executable. */
export function startTool(args: readonly string[], { env }: StartOptions): StartedTool {
  const child = Bun.spawn([process.execPath, ...args], {
    env: { ...withoutRuntimeVariables(env), BUN_BE_BUN: "1" },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
  });
  return { stderr: child.stderr, exited: child.exited, kill: (signal) => child.kill(signal) };
}

/** Passes the present environment to children. By default `Bun.spawn` passes the one with which this process began. */
export function passEnvironment(): void {
  for (const name of ["spawn", "spawnSync"] as const) {
    const spawn = Bun[name] as (...args: unknown[]) => unknown;
    const withEnvironment = (first: object, options?: object): unknown =>
      Array.isArray(first) ? spawn(first, { env: process.env, ...options }) : spawn({ env: process.env, ...first });
    Object.assign(Bun, { [name]: withEnvironment });
  }
}
