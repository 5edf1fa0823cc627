/** Shows progress: on a terminal as a bar, elsewhere as a line from time to time. */

export interface ProgressBarOptions {
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
  /** A clock in milliseconds, of which only differences matter. @default performance.now */
  readonly now?: (() => number) | undefined;
}

const CELLS = 30;
/** Milliseconds between two lines, without a terminal, and between two updates of the bar, with one. */
const EVERY = { line: 10_000, picture: 100 };

export class ProgressBar {
  readonly #options: ProgressBarOptions;
  readonly #now: () => number;
  readonly #began: number;
  /** How many were done before, which do not count for the speed. */
  #first: number | undefined;
  #lastDrawn = -Infinity;
  #width = 0;

  constructor(options: ProgressBarOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#began = this.#now();
  }

  /** Shows the progress. @param total `undefined` while it is unknown. */
  show(done: number, total: number | undefined): void {
    this.#first ??= done;
    const { isTerminal } = this.#options;
    const now = this.#now();
    if (now - this.#lastDrawn < (isTerminal ? EVERY.picture : EVERY.line)) return;
    this.#lastDrawn = now;
    const text = this.#text(done, total, now);
    if (isTerminal) this.#draw(text);
    else this.#options.write(`${text}\n`);
  }

  /** Removes the bar, so that the next output takes its place. */
  clear(): void {
    if (this.#width > 0) this.#options.write(`\r${" ".repeat(this.#width)}\r`);
    this.#width = 0;
  }

  #draw(text: string): void {
    this.#options.write(`\r${text.padEnd(this.#width)}`);
    this.#width = text.length;
  }

  #text(done: number, total: number | undefined, now: number): string {
    const rate = ((done - this.#first!) * 1_000) / Math.max(now - this.#began, 1);
    const speed = `${Math.round(rate)}/s`;
    if (total === undefined || total === 0) return `${count(done)} objects, ${speed}`;
    const part = Math.min(done / total, 1);
    const full = Math.round(part * CELLS);
    const left = rate > 0 ? `, ${duration((total - done) / rate)} left` : "";
    const bar = `[${"#".repeat(full)}${".".repeat(CELLS - full)}]`;
    return `${bar} ${Math.floor(part * 100)}%  ${count(done)} of ${count(total)} objects, ${speed}${left}`;
  }
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}

function duration(seconds: number): string {
  const whole = Math.max(Math.ceil(seconds), 0);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
