/** Splits TypeScript into words, strings and signs without comments, which is enough to find imports, exports and names. */

export interface Token {
  readonly kind: "word" | "string" | "sign" | "pattern";
  /** For a string the characters between the quotes; for a template only those outside of `${}`; for a pattern all with its flags. */
  readonly text: string;
  /** The line, counted from 1. */
  readonly line: number;
}

/** A slash after one of these begins a regular expression; after anything else it divides. */
const beforePattern = new Set(
  "( [ { } , ; = : ! & | ? + - * % < > ~ ^ => return typeof case in of do else await yield".split(" "),
);
const word = /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*|\d[\w.]*/uy;
const pattern = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;

export function tokens(source: string): Token[] {
  return new Reader(source).read();
}

class Reader {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Token[] {
    this.#code(false);
    return this.#tokens;
  }

  /** Reads to the end or, inside a template, to the brace that closes the expression. */
  #code(inTemplate: boolean): void {
    let depth = 0;
    while (this.#at < this.#source.length) {
      const char = this.#source[this.#at] ?? "";
      const next = this.#source[this.#at + 1];
      if (char === "/" && next === "/") this.#skipTo("\n", 0);
      else if (char === "/" && next === "*") this.#skipTo("*/", 2);
      else if (char === '"' || char === "'") this.#string(char);
      else if (char === "`") this.#template();
      else if (char === "/" && this.#beginsPattern() && this.#matches(pattern))
        this.#push("pattern", this.#match, this.#match);
      else if (/\s/.test(char)) this.#advance(1);
      else if (this.#matches(word)) this.#push("word", this.#match, this.#match);
      else {
        if (inTemplate && char === "}" && depth === 0) return;
        if (char === "{") depth++;
        if (char === "}") depth--;
        const sign = char === "=" && next === ">" ? "=>" : char;
        this.#push("sign", sign, sign);
      }
    }
  }

  #match = "";

  #matches(expression: RegExp): boolean {
    expression.lastIndex = this.#at;
    this.#match = expression.exec(this.#source)?.[0] ?? "";
    return this.#match !== "";
  }

  #beginsPattern(): boolean {
    const last = this.#tokens.at(-1);
    return last === undefined || (/word|sign/.test(last.kind) && beforePattern.has(last.text));
  }

  #string(quote: string): void {
    let end = this.#at + 1;
    while (end < this.#source.length && this.#source[end] !== quote) end += this.#source[end] === "\\" ? 2 : 1;
    this.#push("string", this.#source.slice(this.#at + 1, end), this.#source.slice(this.#at, end + 1));
  }

  #template(): void {
    const line = this.#line;
    let text = "";
    this.#advance(1);
    while (this.#at < this.#source.length && this.#source[this.#at] !== "`") {
      if (this.#source.startsWith("${", this.#at)) {
        this.#advance(2);
        this.#code(true);
        this.#advance(1);
        continue;
      }
      const size = this.#source[this.#at] === "\\" ? 2 : 1;
      text += this.#source.slice(this.#at, this.#at + size);
      this.#advance(size);
    }
    this.#advance(1);
    this.#tokens.push({ kind: "string", text, line });
  }

  #push(kind: Token["kind"], text: string, raw: string): void {
    this.#tokens.push({ kind, text, line: this.#line });
    this.#advance(raw.length);
  }

  #skipTo(end: string, more: number): void {
    const place = this.#source.indexOf(end, this.#at + 2);
    this.#advance((place < 0 ? this.#source.length : place + more) - this.#at);
  }

  #advance(size: number): void {
    for (let i = this.#at; i < this.#at + size; i++) if (this.#source[i] === "\n") this.#line++;
    this.#at += size;
  }
}
