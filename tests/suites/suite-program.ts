/** A program of a suite, which may not outlive the run it belongs to. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";

export interface ProgramOptions {
  readonly cwd: string;
  /** Beside those of this process. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Where both outputs go. */
  readonly log: string;
  /** Milliseconds until it is ended. @default never */
  readonly timeout?: number;
}

/** Ends at once what a program and its namespaces consist of: `unshare` heeds no other signal. */
const END = "SIGKILL";

/** Runs a program to its end. A signal to this process ends the program first. */
export async function runProgram(
  command: readonly string[],
  { cwd, env, log, timeout }: ProgramOptions,
): Promise<void> {
  const [program = "", ...args] = command;
  const output = createWriteStream(log);
  await once(output, "open");
  const stdio: ["ignore", typeof output, typeof output] = ["ignore", output, output];
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio });
  const end = (): boolean => child.kill(END);
  const endWith = (signal: NodeJS.Signals): void => {
    end();
    process.kill(process.pid, signal); // nobody listens any more
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, endWith);
  const timer = timeout === undefined ? undefined : setTimeout(end, timeout);
  try {
    await once(child, "close");
  } finally {
    clearTimeout(timer);
    for (const signal of signals) process.removeListener(signal, endWith);
    output.end();
  }
}
