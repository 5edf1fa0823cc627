/** Encodes JSON as YAML, folded and quoted like the server's encoder. */
import { goNumber } from "../field-error.ts";
import { isNumber, parseJson } from "../numbers.ts";
import { isPrintable, scalarStyle } from "./scalar-style.ts";

export function encodeYaml(json: string | Uint8Array): string {
  const text = typeof json === "string" ? json : new TextDecoder().decode(json);
  const emitter = new Emitter();
  emitter.value(parseJson(text), { isKey: false, isInMap: false });
  return emitter.text;
}

/** A text continues on the next line when a word ends beyond this column. */
const width = 80;
/** Longer keys get a line of their own. */
const longestKey = 128;

interface Place {
  readonly isKey: boolean;
  /** Whether it is the value of a map, whose lists are not indented. */
  readonly isInMap: boolean;
}

class Emitter {
  #lines = "";
  #column = 0;
  #indent = -1;
  /** Whether the last character written is white space. */
  #isWhite = true;
  /** Whether the line so far contains only indentation. */
  #isIndented = true;

  get text(): string {
    return this.#lines + (this.#column > 0 ? "\n" : "");
  }

  value(value: unknown, place: Place): void {
    if (typeof value === "string") return this.#text(value, place);
    if (Array.isArray(value)) return this.#list(value, place);
    if (typeof value === "object" && value !== null) return this.#map(value as Record<string, unknown>);
    this.#plain(isNumber(value) && !isUint64(value) ? goNumber(value) : String(value), false);
  }

  #map(fields: Readonly<Record<string, unknown>>): void {
    const names = Object.keys(fields).toSorted(naturally);
    if (names.length === 0) return this.#indicator("{}", true);
    const outer = this.#indent;
    this.#indent = Math.max(0, outer + 2);
    if (outer < 0) this.#indent = 0;
    for (const name of names) {
      this.#newLine();
      if (Buffer.byteLength(name) > longestKey || name.includes("\n")) {
        this.#indicator("?", true, true);
        this.#text(name, { isKey: false, isInMap: true });
        this.#newLine();
        this.#indicator(":", true, true);
      } else {
        this.#text(name, { isKey: true, isInMap: true });
        this.#indicator(":", false);
      }
      this.value(fields[name], { isKey: false, isInMap: true });
    }
    this.#indent = outer;
  }

  #list(items: readonly unknown[], { isInMap }: Place): void {
    if (items.length === 0) return this.#indicator("[]", true);
    const outer = this.#indent;
    if (!isInMap || this.#isIndented) this.#indent = outer < 0 ? 0 : outer + 2;
    for (const item of items) {
      this.#newLine();
      this.#indicator("-", true, true);
      this.value(item, { isKey: false, isInMap: false });
    }
    this.#indent = outer;
  }

  #text(text: string, { isKey }: Place): void {
    const style = scalarStyle(text, isKey);
    const outer = this.#indent;
    this.#indent = Math.max(outer, 0) + 2;
    if (style === "plain") this.#plain(text, !isKey);
    else if (style === "single") this.#single(text, !isKey);
    else if (style === "double") this.#double(text, !isKey);
    else this.#literal(text);
    this.#indent = outer;
  }

  #write(text: string): void {
    this.#lines += text;
    this.#column += Array.from(text).length;
  }

  #indicator(indicator: string, isApart: boolean, isIndentation = false): void {
    if (isApart && !this.#isWhite) this.#write(" ");
    this.#write(indicator);
    this.#isWhite = false;
    this.#isIndented &&= isIndentation;
  }

  #break(): void {
    this.#lines += "\n";
    this.#column = 0;
  }

  /** Begins a new line, unless this one contains only indentation. */
  #newLine(): void {
    const indent = Math.max(this.#indent, 0);
    if (!this.#isIndented || this.#column > indent || (this.#column === indent && !this.#isWhite)) this.#break();
    if (this.#column < indent) this.#write(" ".repeat(indent - this.#column));
    this.#isWhite = true;
    this.#isIndented = true;
  }

  #wroteText(): void {
    this.#isWhite = false;
    this.#isIndented = false;
  }

  #plain(text: string, mayBreak: boolean): void {
    if (!this.#isWhite) this.#write(" ");
    let wasSpace = false;
    for (const [index, character] of Array.from(text).entries()) {
      if (character !== " ") {
        this.#write(character);
        this.#wroteText();
      } else if (mayBreak && !wasSpace && this.#column > width && text[index + 1] !== " ") {
        this.#newLine();
      } else {
        this.#write(" ");
      }
      wasSpace = character === " ";
    }
    this.#wroteText();
  }

  #single(text: string, mayBreak: boolean): void {
    this.#indicator("'", true);
    const characters = Array.from(text);
    let wasSpace = false;
    for (const [index, character] of characters.entries()) {
      const isInside = index > 0 && index < characters.length - 1;
      if (character !== " ") {
        this.#write(character === "'" ? "''" : character);
        this.#wroteText();
      } else if (mayBreak && !wasSpace && this.#column > width && isInside && characters[index + 1] !== " ") {
        this.#newLine();
      } else {
        this.#write(" ");
      }
      wasSpace = character === " ";
    }
    this.#indicator("'", false);
  }

  #double(text: string, mayBreak: boolean): void {
    this.#indicator('"', true);
    const characters = Array.from(text);
    let wasSpace = false;
    for (const [index, character] of characters.entries()) {
      const isInside = index > 0 && index < characters.length - 1;
      if (character !== " ") {
        this.#write(
          isPrintable(character) && !/["\\\n\u0085\u2028\u2029]/.test(character) ? character : escaped(character),
        );
      } else if (mayBreak && !wasSpace && this.#column > width && isInside) {
        this.#newLine();
        if (characters[index + 1] === " ") this.#write("\\");
      } else {
        this.#write(" ");
      }
      wasSpace = character === " ";
    }
    this.#indicator('"', false);
  }

  #literal(text: string): void {
    this.#indicator("|", true);
    if (text.startsWith(" ") || text.startsWith("\n")) this.#write("2");
    if (!text.endsWith("\n")) this.#write("-");
    else if (text === "\n" || text.endsWith("\n\n")) this.#write("+");
    this.#break();
    this.#isIndented = true;
    this.#isWhite = true;
    let isAtBreak = true;
    for (const character of text) {
      if (character === "\n") {
        this.#break();
        this.#isIndented = true;
        isAtBreak = true;
        continue;
      }
      if (isAtBreak) this.#newLine();
      this.#write(character);
      this.#isIndented = false;
      isAtBreak = false;
    }
  }
}

/** Whether Go's library reads the JSON of a float as an integer of 64 bits without a sign. */
function isUint64(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 2 ** 63 && (value as number) < 2 ** 64;
}

const short: Readonly<Record<string, string>> = {
  "\0": "0",
  "\x07": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  "\x1b": "e",
  '"': '"',
  "\\": "\\",
  "\u0085": "N",
  "\u00a0": "_",
  "\u2028": "L",
  "\u2029": "P",
};

function escaped(character: string): string {
  const known = Object.hasOwn(short, character) ? short[character] : undefined;
  if (known !== undefined) return `\\${known}`;
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/** Orders names with the numbers in them by size, and letters last. */
function naturally(one: string, other: string): number {
  const [left, right] = [Array.from(one), Array.from(other)];
  const first = left.findIndex((character, index) => character !== right[index]);
  if (first < 0 || first >= right.length) return left.length - right.length;
  const [a, b] = [left[first]!, right[first]!];
  const [isLetterA, isLetterB] = [/\p{L}/u.test(a), /\p{L}/u.test(b)];
  if (isLetterA && isLetterB) return byCode(a, b);
  if (isLetterA || isLetterB) return isLetterB ? -1 : 1;
  const isBehindDigits = (a === "0" || b === "0") && /(?<![0-9])0*[1-9][0-9]*$/.test(left.slice(0, first).join(""));
  const [numberA, numberB] = [numberAt(left, first, isBehindDigits), numberAt(right, first, isBehindDigits)];
  if (numberA.value !== numberB.value) return numberA.value < numberB.value ? -1 : 1;
  if (numberA.length !== numberB.length) return numberA.length - numberB.length;
  return byCode(a, b);
}

function byCode(one: string, other: string): number {
  return (one.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
}

function numberAt(text: readonly string[], from: number, isBehindDigits: boolean): { value: bigint; length: number } {
  const digits = /^[0-9]*/.exec(text.slice(from).join(""))?.[0] ?? "";
  return {
    value: BigInt((isBehindDigits ? "1" : "") + (digits || (isBehindDigits ? "" : "0"))),
    length: digits.length,
  };
}
