/** Keys that are pressed in the terminal while a command runs, each as it is pressed. */
import { readFileSync } from "node:fs";
import { isTerminal } from "../observe/terminal.ts";

const STANDARD_INPUT = 0;
const INTERRUPT = "\x03";
const SUSPEND = "\x1a";

/**
 * Reads keys until it is disposed of, which restores the terminal. Ctrl-C and Ctrl-Z work as usual, although the
 * terminal now leaves them to the process.
 */
export class TerminalKeys implements Disposable {
  readonly #onKey: (key: string) => void;
  readonly #read = (bytes: Buffer): void => this.#pressed(bytes.toString("utf8"));
  readonly #resumed = (): void => this.#listen();
  readonly #restore = (): void => void process.stdin.setRawMode(false);
  #isListening = false;

  private constructor(onKey: (key: string) => void) {
    this.#onKey = onKey;
  }

  /**
   * @returns undefined when nobody can press a key: standard input is no terminal, or the process runs in the
   * background.
   */
  static open(onKey: (key: string) => void): TerminalKeys | undefined {
    if (!isTerminal(STANDARD_INPUT) || !isForeground()) return undefined;
    const keys = new TerminalKeys(onKey);
    process.on("SIGCONT", keys.#resumed);
    // A second signal ends the process at once, and the terminal's settings must be restored even then.
    process.on("exit", keys.#restore);
    keys.#listen();
    return keys;
  }

  [Symbol.dispose](): void {
    process.off("SIGCONT", this.#resumed);
    process.off("exit", this.#restore);
    this.#leave();
  }

  /** Starts to read, unless the process runs in the background: the terminal would stop it at its first read. */
  #listen(): void {
    if (!isForeground()) return;
    process.stdin.setRawMode(true);
    if (this.#isListening) return;
    this.#isListening = true;
    process.stdin.on("data", this.#read);
    process.stdin.resume();
  }

  #leave(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    process.stdin.off("data", this.#read);
    process.stdin.pause();
    this.#restore();
  }

  #pressed(text: string): void {
    if (text.startsWith("\x1b")) return; // arrows and the like
    for (const key of text) {
      if (key === INTERRUPT) process.kill(process.pid, "SIGINT");
      else if (key === SUSPEND) {
        this.#leave();
        process.kill(process.pid, "SIGTSTP");
      } else this.#onKey(key);
    }
  }
}

/** Whether the process is in the terminal's foreground; `true` when that is unknown. */
function isForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The name of the program, in brackets, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [group, terminal, foreground] = [fields[2], fields[4], fields[5]];
    return terminal === "0" || group === foreground; // without a terminal of its own, nobody stops it for reading
  } catch {
    return true;
  }
}
