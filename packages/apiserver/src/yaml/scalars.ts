/** Scans scalars: block, quoted and plain ones. */
import { type Cursor, isLineBreak, type Mark, scanError } from "./cursor.ts";

const inBlock = "found an indentation indicator equal to 0";

/**
 * Scans a block scalar from its `|` or `>` on.
 *
 * @param parent the column of the enclosing block, -1 for none
 */
export function scanBlockScalar(cursor: Cursor, parent: number): string {
  const start = cursor.mark;
  const fail = (why: string): Error => scanError(cursor, start, { why });
  const isLiteral = cursor.take() === "|";
  let chomping = "";
  let increment = 0;
  const takeChomping = (): boolean => {
    if (cursor.at() !== "+" && cursor.at() !== "-") return false;
    chomping = cursor.take();
    return true;
  };
  const takeIncrement = (): boolean => {
    if (!/^[0-9]$/.test(cursor.at())) return false;
    if (cursor.at() === "0") throw fail(inBlock);
    increment = Number(cursor.take());
    return true;
  };
  if (takeChomping()) takeIncrement();
  else if (takeIncrement()) takeChomping();
  cursor.skipBlanks();
  cursor.skipComment();
  if (!cursor.isBreakOrEnd()) throw fail("did not find expected comment or line break");
  cursor.takeBreak();
  const block = { indent: increment === 0 ? 0 : Math.max(parent, 0) + increment, parent, start };
  let breaks = takeIndentation(cursor, block);
  let text = "";
  let leading = "";
  let wasBlank = false;
  while (cursor.column === block.indent && !cursor.isEnd()) {
    const isBlank = cursor.isBlank();
    if (!isLiteral && !wasBlank && !isBlank && leading.startsWith("\n")) text += breaks === "" ? " " : "";
    else text += leading;
    text += breaks;
    wasBlank = isBlank;
    while (!cursor.isBreakOrEnd()) text += cursor.take();
    leading = cursor.takeBreak();
    breaks = takeIndentation(cursor, block);
  }
  if (chomping !== "-") text += leading;
  return chomping === "+" ? text + breaks : text;
}

interface Block {
  /** The indentation of its lines; 0 until the first line determines it. */
  indent: number;
  readonly parent: number;
  readonly start: Mark;
}

/** Takes empty lines, and the indentation of the next line that is not empty. */
function takeIndentation(cursor: Cursor, block: Block): string {
  let breaks = "";
  let widest = 0;
  const isBefore = (): boolean => block.indent === 0 || cursor.column < block.indent;
  for (;;) {
    while (isBefore() && cursor.at() === " ") cursor.skip();
    widest = Math.max(widest, cursor.column);
    if (isBefore() && cursor.at() === "\t") {
      const why = "found a tab character where an indentation space is expected";
      throw scanError(cursor, block.start, { why });
    }
    if (!cursor.isBreak()) break;
    breaks += cursor.takeBreak();
  }
  if (block.indent === 0) block.indent = Math.max(widest, block.parent + 1, 1);
  return breaks;
}

/** Blanks and line breaks between the words of a scalar with several lines. */
class Gap {
  #blanks = "";
  #first = "";
  #others = "";
  isBroken = false;

  get isEmpty(): boolean {
    return !this.isBroken && this.#blanks === "";
  }

  /** Takes an escaped break, which is not part of the text, unlike what follows on the next lines. */
  takeEscaped(cursor: Cursor): void {
    cursor.skip();
    cursor.takeBreak();
    this.isBroken = true;
  }

  takeFrom(cursor: Cursor, refuse: () => void): void {
    while (cursor.isBlank() || cursor.isBreak()) {
      if (cursor.isBlank()) {
        refuse();
        const blank = cursor.take();
        if (!this.isBroken) this.#blanks += blank;
      } else if (this.isBroken) {
        this.#others += cursor.takeBreak();
      } else {
        this.#blanks = "";
        this.#first = cursor.takeBreak();
        this.isBroken = true;
      }
    }
  }

  /** Returns what the gap counts as, and empties it. */
  folded(): string {
    const text = this.#folded();
    this.#blanks = this.#first = this.#others = "";
    this.isBroken = false;
    return text;
  }

  #folded(): string {
    if (!this.isBroken) return this.#blanks;
    if (this.#first.startsWith("\n")) return this.#others === "" ? " " : this.#others;
    return this.#first + this.#others;
  }
}

const escapes: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  "\t": "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "'": "'",
  "\\": "\\",
  N: "\u0085",
  _: "\u00a0",
  L: "\u2028",
  P: "\u2029",
};

const lengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Scans a quoted scalar, including its quotes. */
export function scanQuotedScalar(cursor: Cursor): string {
  const start = cursor.mark;
  const fail = (why: string): Error => scanError(cursor, start, { why });
  const quote = cursor.take();
  let text = "";
  for (;;) {
    if (cursor.isDocumentIndicator()) throw fail("found unexpected document indicator");
    if (cursor.isEnd()) throw fail("found unexpected end of stream");
    const gap = new Gap();
    while (!cursor.isSpaceOrEnd()) {
      if (cursor.at() === quote) {
        if (quote === '"' || cursor.at(1) !== "'") break;
        text += "'";
        cursor.skip(2);
      } else if (quote === '"' && cursor.at() === "\\") {
        if (isLineBreak(cursor.at(1))) {
          cursor.skip();
          cursor.takeBreak();
          // A break after the escaped one is not part of the text.
          cursor.skipBlanks();
          break;
        }
        text += takeEscape(cursor, fail);
      } else {
        text += cursor.take();
      }
    }
    if (cursor.at() === quote && !cursor.isEnd()) break;
    gap.takeFrom(cursor, () => undefined);
    text += gap.folded();
  }
  cursor.skip();
  return text;
}

function takeEscape(cursor: Cursor, fail: (why: string) => Error): string {
  const code = cursor.at(1);
  const length = Object.hasOwn(lengths, code) ? lengths[code] : undefined;
  if (length === undefined) {
    if (!Object.hasOwn(escapes, code)) throw fail("found unknown escape character");
    cursor.skip(2);
    return escapes[code] ?? "";
  }
  cursor.skip(2);
  let digits = "";
  for (let index = 0; index < length; index++) {
    if (!/^[0-9A-Fa-f]$/.test(cursor.at(index))) throw fail("did not find expected hexdecimal number");
    digits += cursor.at(index);
  }
  const value = Number.parseInt(digits, 16);
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff)
    throw fail("found invalid Unicode character escape code");
  cursor.skip(length);
  return String.fromCodePoint(value);
}

export interface PlainScalar {
  readonly text: string;
  /** Whether it ended with a line, so that a key may follow. */
  readonly endsLine: boolean;
}

export interface PlainPlace {
  /** The column of the enclosing block, -1 for none. */
  readonly parent: number;
  readonly isInFlow: boolean;
}

/** Scans a scalar without quotes. */
export function scanPlainScalar(cursor: Cursor, { parent, isInFlow }: PlainPlace): PlainScalar {
  const start = cursor.mark;
  const gap = new Gap();
  let text = "";
  const ends = (): boolean =>
    (cursor.at() === ":" && cursor.isSpaceOrEnd(1)) || (isInFlow && /^[,?[\]{}]$/.test(cursor.at()));
  while (!cursor.isDocumentIndicator() && cursor.at() !== "#") {
    while (!cursor.isSpaceOrEnd() && !ends()) {
      if (!gap.isEmpty) text += gap.folded();
      text += cursor.take();
    }
    if (!cursor.isBlank() && !cursor.isBreak()) break;
    gap.takeFrom(cursor, () => {
      if (gap.isBroken && cursor.column <= parent && cursor.at() === "\t")
        throw scanError(cursor, start, { why: "found a tab character that violates indentation" });
    });
    if (!isInFlow && cursor.column <= parent) break;
  }
  return { text, endsLine: gap.isBroken };
}
