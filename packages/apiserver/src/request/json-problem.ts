/** Reports invalid JSON in the words of Go's parser. */

import { goQuoted } from "../field-error.ts";

const end = "unexpected end of JSON input";

/** Matches the contexts inside a literal, a number or an escape. */
const inWord = /^(?:in literal|in numeric|after decimal|in exponent|in string escape|in \\u)/;

class Problem extends Error {}

/**
 * Returns the message of `encoding/json`; `undefined` when the text is JSON.
 *
 * @param encoding `latin1` for bytes that need not be UTF-8, each as one character. @default "utf8"
 */
export function jsonProblem(text: string, encoding: "utf8" | "latin1" = "utf8"): string | undefined {
  try {
    const scanner = new Scanner(text, encoding);
    scanner.value();
    scanner.space();
    if (!scanner.done) return `invalid character ${scanner.quoted} after top-level value`;
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

/** Go stops at this depth too. */
const deepest = 10_000;

/** Returns the message for JSON that is nested too deeply, before the recursion of anything else fails at it. */
export function depthProblem(text: string): string | undefined {
  if (text.length < 2 * deepest) return undefined;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    // Brackets in strings count too, so only this calls for a closer look.
    if (depth > deepest) return jsonProblem(text);
  }
  return undefined;
}

class Scanner {
  readonly #text: string;
  readonly #encoding: "utf8" | "latin1";
  #at = 0;
  #depth = 0;

  constructor(text: string, encoding: "utf8" | "latin1") {
    this.#text = text;
    this.#encoding = encoding;
  }

  get done(): boolean {
    return this.#at >= this.#text.length;
  }

  get quoted(): string {
    // Go works on bytes and names the first byte of a character.
    const [byte = 0] = Buffer.from(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0), this.#encoding);
    const character = String.fromCharCode(byte);
    if (character === "'") return `'\\''`;
    if (character === '"') return `'"'`;
    return `'${goQuoted(character).slice(1, -1)}'`;
  }

  space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at += 1;
  }

  value(): void {
    this.space();
    const first = this.#need("looking for beginning of value", /[{["\-0-9tfn]/);
    if (first === "{") this.#object();
    else if (first === "[") this.#array();
    else if (first === '"') this.#string();
    else if (first === "t") this.#literal("true");
    else if (first === "f") this.#literal("false");
    else if (first === "n") this.#literal("null");
    else this.#number();
  }

  #object(): void {
    this.#enter();
    this.#at += 1;
    this.space();
    if (this.#text[this.#at] === "}") return this.#leave();
    for (;;) {
      this.space();
      this.#need("looking for beginning of object key string", /"/);
      this.#string();
      this.space();
      this.#need("after object key", /:/);
      this.#at += 1;
      this.value();
      this.space();
      if (this.#need("after object key:value pair", /[,}]/) === "}") return this.#leave();
      this.#at += 1;
    }
  }

  #array(): void {
    this.#enter();
    this.#at += 1;
    this.space();
    if (this.#text[this.#at] === "]") return this.#leave();
    for (;;) {
      this.value();
      this.space();
      if (this.#need("after array element", /[,\]]/) === "]") return this.#leave();
      this.#at += 1;
    }
  }

  #string(): void {
    this.#at += 1;
    for (;;) {
      const character = this.#need("in string literal", /[^\p{Cc}]|[\u007f-\u009f]/u);
      this.#at += 1;
      if (character === '"') return;
      if (character !== "\\") continue;
      const escape = this.#need("in string escape code", /[bfnrt\\/"u]/);
      this.#at += 1;
      const digits = escape === "u" ? 4 : 0;
      for (let digit = 0; digit < digits; digit += 1) {
        this.#need("in \\u hexadecimal character escape", /[0-9a-fA-F]/);
        this.#at += 1;
      }
    }
  }

  #number(): void {
    if (this.#text[this.#at] === "-") {
      this.#at += 1;
      this.#need("in numeric literal", /[0-9]/);
    }
    if (this.#text[this.#at] === "0") this.#at += 1;
    else this.#digits();
    if (this.#text[this.#at] === ".") {
      this.#at += 1;
      this.#need("after decimal point in numeric literal", /[0-9]/);
      this.#digits();
    }
    if (/[eE]/.test(this.#text[this.#at] ?? "")) {
      this.#at += 1;
      if (/[-+]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
      this.#need("in exponent of numeric literal", /[0-9]/);
      this.#digits();
    }
  }

  #digits(): void {
    while (/[0-9]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #literal(word: string): void {
    for (const letter of word) {
      this.#need(`in literal ${word} (expecting '${letter}')`, new RegExp(letter));
      this.#at += 1;
    }
  }

  #need(context: string, pattern: RegExp): string {
    // Go's scanner treats the end of input as a space, and reports that space where it is not allowed.
    if (this.done) throw new Problem(inWord.test(context) ? `invalid character ' ' ${context}` : end);
    const character = this.#text[this.#at] ?? "";
    if (!pattern.test(character)) throw new Problem(`invalid character ${this.quoted} ${context}`);
    return character;
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > deepest) throw new Problem(`invalid character ${this.quoted} exceeded max depth`);
  }

  #leave(): void {
    this.#depth -= 1;
    this.#at += 1;
  }
}
