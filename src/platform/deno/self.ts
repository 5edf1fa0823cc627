/** Runs Deno, the runtime of this program, as its type checker and its test runner. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { withoutRuntimeVariables } from "../runtime-variables.ts";
import type { StartedTool, StartOptions, ToolOptions, ToolResult } from "../self.ts";

/** Whether a debugger may stop the program: the event loop then pauses because somebody examines it. */
export function isDebugged(): boolean {
  return process.execArgv.some((argument) => argument.startsWith("--inspect"));
}

/** Runs a command of the runtime, such as `deno <args>`. The signal kills it. */
export async function runTool(args: readonly string[], { signal, cwd, env }: ToolOptions = {}): Promise<ToolResult> {
  const child = spawn(process.execPath, args, {
    ...(signal !== undefined && { signal }),
    ...(cwd !== undefined && { cwd }),
    env: { ...withoutRuntimeVariables(process.env), ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
  // The signal's error comes before the end that it causes, and adds nothing to the status.
  child.on("error", (error) => (signal?.aborted === true ? undefined : reject(error)));
  child.once("close", (status) => resolve(status ?? 1));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

/** Starts `deno <args>`. */
export function startTool(args: readonly string[], { env }: StartOptions): StartedTool {
  const child = spawn(process.execPath, args, {
    env: withoutRuntimeVariables(env),
    stdio: ["ignore", "inherit", "pipe"],
  });
  const { promise: exited, resolve, reject } = Promise.withResolvers<number>();
  child.once("error", reject).once("exit", (status) => resolve(status ?? 1));
  return { stderr: child.stderr, exited, kill: (signal) => void child.kill(signal) };
}

/** Does nothing: this runtime passes the present environment to children anyway. */
export function passEnvironment(): void {}
