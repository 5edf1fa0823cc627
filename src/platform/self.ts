/** Runs this executable as its runtime's tools: type checker and test runner. */
import { withoutRuntimeVariables } from "./runtime-variables.ts";

export interface ToolResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether a debugger may stop the program: then it does not come round because somebody looks at it. */
export function isDebugged(): boolean {
  return process.execArgv.some((argument) => argument.startsWith("--inspect"));
}

export interface SelfOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default the working directory */
  readonly cwd?: string | undefined;
  /** What is set besides this process's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Runs `bun <args>` with nothing but this executable. The signal kills it. */
export async function selfAsBun(args: readonly string[], { signal, cwd, env }: SelfOptions = {}): Promise<ToolResult> {
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
