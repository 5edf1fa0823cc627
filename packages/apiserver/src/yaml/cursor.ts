/** A position in a YAML text, and the errors that refer to one. */

/** A position: lines and columns count from 0. */
export interface Mark {
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** An error in the words of the server's parser. */
export class YamlError extends Error {}

/** Makes an error of the scanner, which knows its line. */
export function scanError(
  { line }: Pick<Mark, "line">,
  context: Pick<Mark, "line">,
  { why }: { why: string },
): YamlError {
  if (line > 0) return new YamlError(`line ${line + 1}: ${why}`);
  return new YamlError(context.line > 0 ? `line ${context.line}: ${why}` : why);
}

/** Makes an error of the parser, which counts lines from 0 and does not name the first one. */
export function parseError({ line }: Mark, context: Mark | undefined, { why }: { why: string }): YamlError {
  const named = line > 0 ? line : (context?.line ?? 0);
  return new YamlError(named > 0 ? `line ${named}: ${why}` : why);
}

const end = "\0";

/** Steps through a text; after its end there are only NULs. */
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

  /** Returns the character at a distance. */
  at(offset = 0): string {
    return this.#text[this.index + offset] ?? end;
  }

  /** Whether the next characters are this text. */
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

  /** Takes one character. */
  take(): string {
    const character = this.at();
    this.skip();
    return character;
  }

  /** Takes a line break and returns what it counts as. */
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

/** Whether the character may be part of a name of an anchor, directive or tag. */
export function isWord(character: string): boolean {
  return /^[0-9A-Za-z_-]$/.test(character);
}
