/** A program of the control plane as a process that is started, killed, and started again with the same flags. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";

export interface ProgramOptions {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The log file, to which the program appends. */
  readonly log: string;
  /** A folder that is removed when the starting process dies unexpectedly. */
  readonly remove?: string | undefined;
  /** Whether the program outlives the process that started it. @default false */
  readonly detached?: boolean | undefined;
}

/**
 * The shell becomes the program, so that its process id and signals are the program's. Another shell waits for the end
 * of a pipe that only the starting process holds open. When that process ends, in whatever way, this shell kills the
 * program and removes the files that the process can no longer remove; a program that has ended already was stopped in
 * order.
 */
const tether = `exec 3<&0
remove=$1; shift
(cat <&3 >/dev/null; kill -9 $$ && [ -n "$remove" ] && sleep 1 && rm -rf "$remove") 2>/dev/null &
exec "$@" </dev/null 3<&-`;

/** Runs in a process group of its own, so that Ctrl-C reaches only the process that stops it in order. */
export class Program {
  readonly name: string;
  readonly #options: ProgramOptions;
  #child: ChildProcess | undefined;
  #exit: Promise<void> = Promise.resolve();
  #running = false;

  constructor(options: ProgramOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get running(): boolean {
    return this.#running;
  }

  get pid(): number | undefined {
    return this.#running ? this.#child?.pid : undefined;
  }

  start(): void {
    const { path, args, cwd, log, remove = "", detached = false } = this.#options;
    const out = openSync(log, "a");
    const [command, ...rest] = detached ? [path] : ["/bin/sh", "-c", tether, "sh", remove, path];
    const stdin = detached ? "ignore" : "pipe";
    const { DISABLE_HTTP2: _ours, ...env } = process.env; // Go's programs heed it too
    const child = spawn(command ?? path, [...rest, ...args], { cwd, env, detached: true, stdio: [stdin, out, out] });
    closeSync(out);
    this.#child = child;
    this.#running = true;
    this.#exit = new Promise((resolve) => {
      const ended = () => {
        this.#running = false;
        child.stdin?.destroy();
        resolve();
      };
      child.once("error", ended).once("exit", ended);
    });
    child.stdin?.on("error", () => undefined);
    if (detached) child.unref();
  }

  /** Sends the signal and, if it certainly ends a process, waits until it has. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (!this.#running) return;
    this.#child?.kill(signal);
    if (signal === "SIGKILL") await this.#exit;
  }

  /** Returns from the program's log why it ended. */
  async lastWords(): Promise<string> {
    const lines = (await readFile(this.#options.log, "utf8").catch(() => "")).trimEnd().split("\n");
    return lines.slice(-5).join("\n");
  }
}
