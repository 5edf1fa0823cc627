/** Reports progress: a bar on a terminal, a line for each step elsewhere. */
import { type Clock, monotonic } from "../platform/clock.ts";

export interface ProgressOptions {
  readonly write: (text: string) => void;
  /** Whether the output is a terminal, where a line can be overwritten. */
  readonly isTerminal: boolean;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

/** Cells of the bar. */
const WIDTH = 24;
/** Milliseconds between two looks of the bar. */
const EVERY = 100;
const CLEAR = "\r\u001B[K";

export class Progress implements Disposable {
  readonly #write: (text: string) => void;
  readonly #isTerminal: boolean;
  readonly #clock: Clock;
  #step = "";
  #total = 0;
  #done = 0;
  #drawn = -Infinity;

  constructor({ write, isTerminal, clock }: ProgressOptions) {
    this.#write = write;
    this.#isTerminal = isTerminal;
    this.#clock = monotonic(clock);
  }

  /** Begins a step. @param total the bytes, when they are known. */
  begin(step: string, total = 0): void {
    this.#step = step;
    this.#total = total;
    this.#done = 0;
    if (this.#isTerminal) this.#draw();
    else this.#write(`${step}\n`);
  }

  /** Counts more bytes of the step as done; a negative number when something has to be done again. */
  advance(bytes: number): void {
    this.#done += bytes;
    if (this.#isTerminal && this.#clock.now() - this.#drawn >= EVERY) this.#draw();
  }

  /** Takes the bar away. */
  [Symbol.dispose](): void {
    if (this.#isTerminal && this.#step !== "") this.#write(CLEAR);
    this.#step = "";
  }

  #draw(): void {
    this.#drawn = this.#clock.now();
    this.#write(
      `${CLEAR}${this.#step}${this.#total === 0 ? " …" : ` ${bar(this.#done / this.#total)}${this.#sizes()}`}`,
    );
  }

  #sizes(): string {
    return ` ${mebibytes(Math.min(this.#done, this.#total))} of ${mebibytes(this.#total)} MiB`;
  }
}

function bar(part: number): string {
  const cells = Math.max(0, Math.min(WIDTH, Math.floor(part * WIDTH)));
  return `[${"█".repeat(cells)}${" ".repeat(WIDTH - cells)}]`;
}

export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
