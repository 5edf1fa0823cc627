/** Splits YAML 1.1 into tokens: where blocks begin and end, and which scalars are keys. */
import { Cursor, type Mark, scanError } from "./cursor.ts";
import { scanBlockScalar, scanPlainScalar, scanQuotedScalar } from "./scalars.ts";
import { scanAnchor, scanDirective, scanTag } from "./tags.ts";
import { token, type Token, type TokenType } from "./token.ts";

/** A token that becomes a key if a colon follows. */
interface PossibleKey {
  /** The number of its token. */
  readonly number: number;
  readonly mark: Mark;
  /** Whether only a key may appear there. */
  readonly isRequired: boolean;
}

const mostDepth = 10_000;
const longestKey = 1024;
const noKey = "could not find expected ':'";

export class Scanner {
  readonly #cursor: Cursor;
  readonly #tokens: Token[] = [];
  /** How many tokens were returned. */
  #taken = 0;
  /** The columns of the enclosing blocks, the innermost last. */
  readonly #indents: number[] = [-1];
  /** The possible key of each enclosing flow collection, and of the block outside of them. */
  readonly #keys: (PossibleKey | undefined)[] = [undefined];
  /** The place in `#keys` of each of them, by the number of its token. */
  readonly #levels = new Map<number, number>();
  #mayBeKey = true;

  constructor(text: string) {
    this.#cursor = new Cursor(text);
  }

  /** Returns the next token without taking it. */
  peek(): Token {
    while (this.#needsMore()) this.#scanNext();
    return this.#tokens[0]!;
  }

  take(): Token {
    const next = this.peek();
    if (next.type === "stream end") return next;
    this.#tokens.shift();
    this.#taken++;
    return next;
  }

  get #flowDepth(): number {
    return this.#keys.length - 1;
  }

  get #indent(): number {
    return this.#indents.at(-1) ?? -1;
  }

  /** Whether the first token may still become part of a key, which begins before it. */
  #needsMore(): boolean {
    if (this.#tokens.length === 0) return true;
    const level = this.#levels.get(this.#taken);
    return level !== undefined && this.#isStillKey(level);
  }

  /** Whether it may still be a key, which has one line and a limited length. @throws YamlError where only a key may appear */
  #isStillKey(level: number): boolean {
    const key = this.#keys[level];
    if (key === undefined) return false;
    if (key.mark.line === this.#cursor.line && key.mark.index + longestKey >= this.#cursor.index) return true;
    if (key.isRequired) throw scanError(this.#cursor, key.mark, { why: noKey });
    this.#forgetKey(level);
    return false;
  }

  #saveKey(): void {
    if (!this.#mayBeKey) return;
    const isRequired = this.#flowDepth === 0 && this.#indent === this.#cursor.column;
    this.#dropKey();
    const number = this.#taken + this.#tokens.length;
    this.#keys[this.#flowDepth] = { number, mark: this.#cursor.mark, isRequired };
    this.#levels.set(number, this.#flowDepth);
  }

  #dropKey(): void {
    const key = this.#keys[this.#flowDepth];
    if (key?.isRequired === true) throw scanError(this.#cursor, key.mark, { why: noKey });
    this.#forgetKey(this.#flowDepth);
  }

  #forgetKey(level: number): void {
    const key = this.#keys[level];
    if (key === undefined) return;
    this.#levels.delete(key.number);
    this.#keys[level] = undefined;
  }

  /** Begins a block at a column further to the right. */
  #roll(column: number, type: TokenType, { mark, number }: { readonly mark: Mark; readonly number?: number }): void {
    if (this.#flowDepth > 0 || this.#indent >= column) return;
    this.#indents.push(column);
    if (this.#indents.length > mostDepth + 1)
      throw scanError(this.#cursor, mark, { why: `exceeded max depth of ${mostDepth}` });
    const at = number === undefined ? this.#tokens.length : number - this.#taken;
    this.#tokens.splice(at, 0, token(type, mark));
  }

  /** Ends the blocks that are further to the right. */
  #unroll(column: number): void {
    if (this.#flowDepth > 0) return;
    while (this.#indent > column) {
      this.#tokens.push(token("block end", this.#cursor.mark));
      this.#indents.pop();
    }
  }

  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      if (cursor.column === 0 && cursor.index === 0 && cursor.at() === "\ufeff") cursor.skip();
      while (cursor.at() === " " || (cursor.at() === "\t" && (this.#flowDepth > 0 || !this.#mayBeKey))) cursor.skip();
      cursor.skipComment();
      if (!cursor.isBreak()) return;
      cursor.takeBreak();
      if (this.#flowDepth === 0) this.#mayBeKey = true;
    }
  }

  #scanNext(): void {
    const cursor = this.#cursor;
    this.#skipToToken();
    this.#unroll(cursor.column);
    if (cursor.isEnd()) return this.#scanEnd();
    const first = cursor.at();
    if (cursor.column === 0 && first === "%") return this.#scanOutside(() => scanDirective(cursor));
    if (cursor.isDocumentIndicator()) {
      const type = first === "-" ? "document start" : "document end";
      return this.#scanOutside(() => this.#indicator(type, 3));
    }
    const isInFlow = this.#flowDepth > 0;
    if (first === "[" || first === "{") return this.#beginFlow(first);
    if (first === "]" || first === "}") return this.#endFlow(first);
    if (first === ",") return this.#separate("flow entry", true);
    if (first === "-" && cursor.isSpaceOrEnd(1)) return this.#scanEntry();
    if (first === "?" && (isInFlow || cursor.isSpaceOrEnd(1))) return this.#scanKey();
    if (first === ":" && (isInFlow || cursor.isSpaceOrEnd(1))) return this.#scanValue();
    if (first === "*" || first === "&") return this.#scanPart(() => scanAnchor(cursor));
    if (first === "!") return this.#scanPart(() => scanTag(cursor));
    if ((first === "|" || first === ">") && !isInFlow) return this.#scanBlockScalar();
    if (first === "'" || first === '"') {
      return this.#scanPart((mark) => token("scalar", mark, { value: scanQuotedScalar(cursor) }));
    }
    if (this.#beginsPlain()) return this.#scanPlain();
    throw scanError(cursor, cursor, { why: "found character that cannot start any token" });
  }

  #beginsPlain(): boolean {
    const first = this.#cursor.at();
    if (!this.#cursor.isSpaceOrEnd() && !/^[-?:,[\]{}#&*!|>'"%@`]$/.test(first)) return true;
    if (first === "-") return !this.#cursor.isBlank(1);
    return this.#flowDepth === 0 && (first === "?" || first === ":") && !this.#cursor.isSpaceOrEnd(1);
  }

  #indicator(type: TokenType, length = 1): Token {
    const { mark } = this.#cursor;
    this.#cursor.skip(length);
    return token(type, mark);
  }

  #scanEnd(): void {
    const cursor = this.#cursor;
    if (cursor.column !== 0) {
      cursor.column = 0;
      cursor.line++;
    }
    this.#scanOutside(() => token("stream end", cursor.mark));
  }

  /** Scans a token that ends every block. */
  #scanOutside(scan: () => Token): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#mayBeKey = false;
    this.#tokens.push(scan());
  }

  #beginFlow(first: string): void {
    this.#saveKey();
    this.#keys.push(undefined);
    if (this.#flowDepth > mostDepth)
      throw scanError(this.#cursor, this.#cursor, { why: `exceeded max depth of ${mostDepth}` });
    this.#mayBeKey = true;
    this.#tokens.push(this.#indicator(first === "[" ? "flow sequence start" : "flow mapping start"));
  }

  #endFlow(first: string): void {
    this.#dropKey();
    if (this.#flowDepth > 0) this.#keys.pop();
    this.#mayBeKey = false;
    this.#tokens.push(this.#indicator(first === "]" ? "flow sequence end" : "flow mapping end"));
  }

  #separate(type: TokenType, mayBeKey: boolean): void {
    this.#dropKey();
    this.#mayBeKey = mayBeKey;
    this.#tokens.push(this.#indicator(type));
  }

  #scanEntry(): void {
    const cursor = this.#cursor;
    if (this.#flowDepth === 0) {
      if (!this.#mayBeKey)
        throw scanError(cursor, cursor, { why: "block sequence entries are not allowed in this context" });
      this.#roll(cursor.column, "block sequence start", cursor);
    }
    this.#separate("block entry", true);
  }

  #scanKey(): void {
    const cursor = this.#cursor;
    if (this.#flowDepth === 0) {
      if (!this.#mayBeKey) throw scanError(cursor, cursor, { why: "mapping keys are not allowed in this context" });
      this.#roll(cursor.column, "block mapping start", cursor);
    }
    this.#separate("key", this.#flowDepth === 0);
  }

  #scanValue(): void {
    const cursor = this.#cursor;
    const level = this.#flowDepth;
    const key = this.#isStillKey(level) ? this.#keys[level] : undefined;
    if (key !== undefined) {
      this.#tokens.splice(key.number - this.#taken, 0, token("key", key.mark));
      this.#roll(key.mark.column, "block mapping start", key);
      this.#forgetKey(level);
      this.#mayBeKey = false;
    } else {
      if (level === 0) {
        if (!this.#mayBeKey) throw scanError(cursor, cursor, { why: "mapping values are not allowed in this context" });
        this.#roll(cursor.column, "block mapping start", cursor);
      }
      this.#mayBeKey = level === 0;
    }
    this.#tokens.push(this.#indicator("value"));
  }

  /** Scans a token that may begin a key. */
  #scanPart(scan: (mark: Mark) => Token): void {
    this.#saveKey();
    this.#mayBeKey = false;
    this.#tokens.push(scan(this.#cursor.mark));
  }

  #scanPlain(): void {
    this.#saveKey();
    const { mark } = this.#cursor;
    const place = { parent: this.#indent, isInFlow: this.#flowDepth > 0 };
    const { text, endsLine } = scanPlainScalar(this.#cursor, place);
    this.#mayBeKey = endsLine;
    this.#tokens.push(token("scalar", mark, { value: text, isPlain: true }));
  }

  #scanBlockScalar(): void {
    this.#dropKey();
    this.#mayBeKey = true;
    const { mark } = this.#cursor;
    this.#tokens.push(token("scalar", mark, { value: scanBlockScalar(this.#cursor, this.#indent) }));
  }
}
