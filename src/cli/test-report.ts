/**
 * Adds the state of clusters at the end of a failed test to the output of a test run.
 *
 * The runner does not tell the tests' process which tests failed, but prints that after their hooks. So the report of
 * each test is sent ahead in a line that is not shown, and is printed when the next result is a failure.
 */

const MARK = "\u001Ebinnacle ";
/** Code that people write has no longer lines; the SDK in the binary has. */
const LONGEST_SOURCE_LINE = 400;

/** Returns the line that carries a report through the output. */
export function reportLine(text: string): string {
  return `\n${MARK}${Buffer.from(text).toString("base64")}\n`;
}

/** Passes on the output piece by piece, without excerpts of source that is not meant for people. */
export class ReportFilter {
  readonly #write: (text: string) => void;
  #rest = "";
  #report: string | undefined;
  /** Whether the line before a report is an empty one, which belongs to the report. */
  #blank = false;
  /** The lines of the present excerpt. */
  #source: string[] = [];
  /** Whether the runner ended with the message that there was no test. */
  ranNothing = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line);
  }

  end(): void {
    if (this.#blank) this.#write("\n");
    this.#endSource();
    if (this.#rest !== "") this.#write(this.#rest);
    this.#rest = "";
  }

  #line(line: string): void {
    if (line.startsWith(MARK)) {
      this.#blank = false;
      this.#report = Buffer.from(line.slice(MARK.length), "base64").toString();
      return;
    }
    // eslint-disable-next-line no-control-regex -- colours of a terminal
    const plain = line.replaceAll(/\u001B\[[0-9;]*m/g, "");
    if (this.#blank) this.#write("\n");
    this.#blank = false;
    if (/^ *\d+ \| /.test(plain)) {
      this.#source.push(line);
      return;
    }
    const isShown = this.#endSource();
    if (!isShown && /^ *\^ *$/.test(plain)) return;
    this.#blank = line === "";
    if (this.#blank) return;
    this.#write(`${line}\n`);
    if (/^(\(fail\)|✗) /.test(plain) && this.#report !== undefined) {
      this.#write(`\n${this.#report.replaceAll(/^(?=.)/gm, "  ")}\n\n`);
    }
    if (/^Ran \d+ tests? across/.test(plain)) this.ranNothing = plain.startsWith("Ran 0 ");
    if (/^(\((fail|pass|skip|todo)\)|[✓✗»✎]) /.test(plain)) this.#report = undefined;
  }

  /** Ends an excerpt of source. @returns false when there was an excerpt and it is left out */
  #endSource(): boolean {
    const source = this.#source;
    this.#source = [];
    if (source.some((line) => line.length > LONGEST_SOURCE_LINE)) return false;
    for (const line of source) this.#write(`${line}\n`);
    return true;
  }
}
