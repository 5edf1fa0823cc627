/**
 * Translates JavaScript's regular expressions to RE2, the syntax of the API server.
 *
 * @see https://github.com/google/re2/wiki/Syntax
 */

const categories = /^(?:[LMNPSZC]|L[ulmto]|M[nce]|N[dlo]|P[cdseifo]|S[mcko]|Z[slp]|C[cfos])$/;

/**
 * Returns the same expression for RE2.
 *
 * @throws SyntaxError naming the part that RE2 lacks and the alternative.
 */
export function toRe2(regex: RegExp): string {
  return new Translation(regex).run();
}

class Translation {
  readonly #regex: RegExp;
  readonly #source: string;
  readonly #unicode: boolean;
  #at = 0;
  #inClass = false;

  constructor(regex: RegExp) {
    this.#regex = regex;
    this.#source = regex.source === "(?:)" ? "" : regex.source;
    this.#unicode = regex.unicode || regex.unicodeSets;
  }

  run(): string {
    if (this.#regex.sticky) throw this.#refuse('the flag "y"', 'begin the expression with "^"');
    const flags = ["i", "m", "s"].filter((flag) => this.#regex.flags.includes(flag)).join("");
    let out = flags === "" ? "" : `(?${flags})`;
    while (this.#at < this.#source.length) out += this.#inClass ? this.#classPart() : this.#part();
    return out;
  }

  #part(): string {
    const rest = this.#source.slice(this.#at);
    if (/^\(\?<?[=!]/.test(rest)) {
      throw this.#refuse(
        rest.startsWith("(?<") ? "look-behind" : "look-ahead",
        "write the expression without it, chain a second .regex(), or use a CEL rule: .meta({ rules: [{ rule, message }] })",
      );
    }
    if (rest.startsWith("(?<")) return this.#take(3, "(?P<");
    if (rest.startsWith("[^]")) return this.#take(3, "(?s:.)");
    if (rest.startsWith("[]")) return this.#take(2, "[^\\x00-\\x{10FFFF}]");
    if (rest.startsWith("[")) {
      this.#inClass = true;
      return this.#take(rest.startsWith("[^") ? 2 : 1);
    }
    if (rest.startsWith("\\")) return this.#escape();
    const counts = /^\{([0-9]+)(?:,([0-9]*))?\}/.exec(rest);
    if (counts !== null) {
      if (Math.max(Number(counts[1]), Number(counts[2] ?? 0)) > 1000) {
        throw this.#refuse(`the repetition ${counts[0]} above 1000`, "use .min() and .max() for lengths");
      }
      return this.#take(counts[0].length);
    }
    return this.#take(1);
  }

  #classPart(): string {
    const rest = this.#source.slice(this.#at);
    if (this.#regex.unicodeSets && /^(?:\[|--|&&|\\q)/.test(rest)) {
      throw this.#refuse('set notation of the flag "v"', "write one plain character class");
    }
    if (rest.startsWith("]")) this.#inClass = false;
    if (rest.startsWith("[")) return this.#take(1, "\\[");
    return rest.startsWith("\\") ? this.#escape() : this.#take(1);
  }

  #escape(): string {
    const rest = this.#source.slice(this.#at);
    const next = rest[1] ?? "";
    const code = /^\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]+)\})/.exec(rest);
    if (code !== null && (code[3] === undefined || this.#unicode)) return this.#codePoint(code);
    if (/[1-9]/.test(next) || (next === "k" && /\(\?</.test(this.#source))) {
      throw this.#refuse("a back-reference", "spell the alternatives out, or use a CEL rule");
    }
    if (next === "0") return this.#take(2, "\\x00");
    if (next === "c" && /[A-Za-z]/.test(rest[2] ?? "")) {
      return this.#take(3, `\\x{${((rest.codePointAt(2) ?? 0) % 32).toString(16)}}`);
    }
    if (next === "b" && this.#inClass) return this.#take(2, "\\x08");
    if (/[dDwWsSbBtnvfr]/.test(next)) return this.#take(2);
    if (/[pP]/.test(next) && this.#unicode) return this.#property(rest);
    // A letter without a meaning in JavaScript may have one in RE2, such as `\a` and `\z`.
    return this.#take(2, /[\w\u0080-\u{10ffff}]/u.test(next) && next !== "_" ? next : undefined);
  }

  #codePoint(code: RegExpExecArray): string {
    const hex = code[1] ?? code[2] ?? code[3] ?? "";
    const value = Number.parseInt(hex, 16);
    if (value >= 0xd800 && value <= 0xdfff) {
      throw this.#refuse("half of a surrogate pair", 'use the flag "u" and \\u{…}');
    }
    return this.#take(code[0].length, `\\x{${value.toString(16).toUpperCase()}}`);
  }

  #property(rest: string): string {
    const property = /^\\([pP])\{([^}]*)\}/.exec(rest);
    const name = property?.[2]?.replace(/^(?:General_Category|gc|Script|sc)=/, "") ?? "";
    const script = /^(?:Script|sc)=[A-Z]\w+$/.test(property?.[2] ?? "");
    if (property === null || !(script || categories.test(name))) {
      throw this.#refuse(
        `the property ${property?.[0] ?? rest.slice(0, 2)}`,
        "use a short category such as \\p{L}, or ranges",
      );
    }
    return this.#take(property[0].length, `\\${property[1]}{${name}}`);
  }

  #take(length: number, output?: string): string {
    const from = this.#at;
    this.#at += length;
    return output ?? this.#source.slice(from, this.#at);
  }

  #refuse(what: string, advice: string): SyntaxError {
    return new SyntaxError(
      `the API server's regular expressions (RE2) have no ${what} as in ${this.#regex}: ${advice}`,
    );
  }
}
