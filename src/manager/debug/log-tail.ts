/** The last lines of the log, for somebody who examines the process. */
import { RANK, type RootLog } from "../../observe/log.ts";
import { lineValues } from "../../observe/log-line.ts";
import type { LogLineAnswer } from "../../server/debug/answers.ts";
import type { LogFilter } from "../../server/debug/debug-app.ts";

const MOST_LINES = 2_000;
/** The most characters of all remembered lines, as JSON. */
const MOST_CHARACTERS = 2 ** 20;

export class LogTail implements Disposable {
  readonly #following: Disposable;
  readonly #listeners = new Set<(line: LogLineAnswer) => void>();
  /** The oldest first. */
  #lines: { readonly line: LogLineAnswer; readonly size: number }[] = [];
  #characters = 0;

  /** @param clean removes what must not be shown from a text. */
  constructor(log: RootLog, clean: (text: string) => string) {
    this.#following = log.follow((line) => {
      const { time, level, message, fields } = lineValues(line);
      this.#add({ at: new Date(time).toISOString(), level, message, fields }, clean);
    });
  }

  /** Returns the newest lines that match, the oldest of them first. */
  lines(filter: LogFilter, limit: number): readonly LogLineAnswer[] {
    const matches = this.#lines.flatMap(({ line }) => (isMatch(line, filter) ? [line] : []));
    return limit === 0 ? [] : matches.slice(-limit);
  }

  onLine(filter: LogFilter, listener: (line: LogLineAnswer) => void): Disposable {
    const own = (line: LogLineAnswer): void => {
      if (isMatch(line, filter)) listener(line);
    };
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#listeners.clear();
  }

  #add(original: LogLineAnswer, clean: (text: string) => string): void {
    const text = JSON.stringify(original);
    const cleaned = clean(text);
    const line = cleaned === text ? original : lineOf(cleaned, original);
    this.#lines.push({ line, size: cleaned.length });
    this.#characters += cleaned.length;
    // Lines are dropped in bulk, because each removal at the beginning moves all of them.
    if (this.#lines.length > 2 * MOST_LINES || this.#characters > 2 * MOST_CHARACTERS) this.#shorten();
    for (const listener of this.#listeners) listener(line);
  }

  #shorten(): void {
    let first = Math.max(0, this.#lines.length - MOST_LINES);
    let characters = this.#lines.slice(first).reduce((sum, { size }) => sum + size, 0);
    while (characters > MOST_CHARACTERS) characters -= this.#lines[first++]!.size;
    this.#lines = this.#lines.slice(first);
    this.#characters = characters;
  }
}

/** Returns the line of a text that was cleaned as a whole; a value in it may have been as long as half the line. */
function lineOf(text: string, { at, level }: LogLineAnswer): LogLineAnswer {
  try {
    return JSON.parse(text) as LogLineAnswer;
  } catch {
    return { at, level, message: "[redacted]", fields: {} };
  }
}

function isMatch({ level, message, fields }: LogLineAnswer, filter: LogFilter): boolean {
  if (filter.level !== undefined && RANK[level] < RANK[filter.level]) return false;
  for (const name of ["module", "controller", "key"] as const)
    if (filter[name] !== undefined && fields[name] !== filter[name]) return false;
  const { text } = filter;
  return text === undefined || message.includes(text) || JSON.stringify(fields).includes(text);
}
