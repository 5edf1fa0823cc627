/** Running a program to its end. */

import { spawn } from "node:child_process";
import { basename } from "node:path";

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export interface RunOptions {
  readonly cwd?: string | undefined;
  /** Beside those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What it reads: a text, or the content of a file. */
  readonly input?: string | Uint8Array | undefined;
}

/** What a program printed, and how it ended. */
export async function outputOf(program: string, args: readonly string[], options: RunOptions = {}): Promise<Output> {
  const { cwd, env, input } = options;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // it may end before it has read everything
  child.stdin.end(input);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const texts = [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString());
  const [stdout = "", stderr = ""] = await Promise.all(texts);
  return { stdout, stderr, code: await ended };
}

/** What a program printed. @throws with its last words when it fails. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { stdout, stderr, code } = await outputOf(program, args, options);
  if (code === 0) return stdout;
  const output = `${stderr.trim()}\n${stdout.trim()}`.trim().split("\n").slice(-15).join("\n");
  throw new Error(`${basename(program)} ${args.slice(0, 4).join(" ")} ended with ${code}: ${output}`);
}
