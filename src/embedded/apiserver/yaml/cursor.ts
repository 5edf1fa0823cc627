/** A place in a YAML text, and the errors that name one. */

/** Where something begins: lines and columns count from 0. */
export interface Mark {
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a text, worded as the server's parser words it. */
export class YamlError extends Error {}

/** An error of the scanner, which knows the line it is in. */
export function scanError(
  { line }: Pick<Mark, "line">,
  context: Pick<Mark, "line">,
  { why }: { why: string },
): YamlError {
  if (line > 0) return new YamlError(`line ${line + 1}: ${why}`);
  return new YamlError(context.line > 0 ? `line ${context.line}: ${why}` : why);
}

/** An error of the parser, which counts its lines from 0 and does not name the first. */
export function parseError({ line }: Mark, context: Mark | undefined, { why }: { why: string }): YamlError {
  const named = line > 0 ? line : (context?.line ?? 0);
  return new YamlError(named > 0 ? `line ${named}: ${why}` : why);
}

const end = "\0";

/** Steps through a text; past its end there are only NULs. */
export class Cursor {
  readonly #text: string;
  index = 0;
  line = 0;
  column = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get mark(): Mark {
    return { index: this.index, line: this.line, column: this.column };
  }

  /** The character at a distance. */
  at(offset = 0): string {
    return this.#text[this.index + offset] ?? end;
  }

  /** The text of the next characters. */
  startsWith(text: string): boolean {
    return this.#text.startsWith(text, this.index);
  }

  isEnd(offset = 0): boolean {
    return this.index + offset >= this.#text.length;
  }

  isBlank(offset = 0): boolean {
    const character = this.at(offset);
    return character === " " || character === "\t";
  }

  isBreak(offset = 0): boolean {
    return isLineBreak(this.at(offset));
  }

  isBreakOrEnd(offset = 0): boolean {
    return this.isEnd(offset) || this.isBreak(offset);
  }

  isSpaceOrEnd(offset = 0): boolean {
    return this.isBlank(offset) || this.isBreakOrEnd(offset);
  }

  skip(count = 1): void {
    this.index += count;
    this.column += count;
  }

  /** One character, taken. */
  take(): string {
    const character = this.at();
    this.skip();
    return character;
  }

  /** A line break, taken: what it counts as. */
  takeBreak(): string {
    const character = this.at();
    if (!this.isBreak()) return "";
    this.index += character === "\r" && this.at(1) === "\n" ? 2 : 1;
    this.line++;
    this.column = 0;
    return character === "\u2028" || character === "\u2029" ? character : "\n";
  }

  /** Whether a line of `---` or `...` begins here. */
  isDocumentIndicator(): boolean {
    return this.column === 0 && (this.startsWith("---") || this.startsWith("...")) && this.isSpaceOrEnd(3);
  }

  skipBlanks(): void {
    while (this.isBlank()) this.skip();
  }

  skipComment(): void {
    if (this.at() === "#") while (!this.isBreakOrEnd()) this.skip();
  }
}

export function isLineBreak(character: string): boolean {
  return /^[\r\n\u0085\u2028\u2029]$/.test(character);
}

/** A character of names: anchors, directives and tags. */
export function isWord(character: string): boolean {
  return /^[0-9A-Za-z_-]$/.test(character);
}
