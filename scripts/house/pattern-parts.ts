/** Takes regular expressions apart as far as it is needed to find texts that make them slow. */

export type Part =
  | { readonly type: "atom"; readonly text: string }
  | { readonly type: "sequence"; readonly parts: readonly Part[] }
  | { readonly type: "choice"; readonly parts: readonly Part[] }
  | { readonly type: "repeat"; readonly part: Part; readonly least: number; readonly most: number };

const NOTHING: Part = { type: "sequence", parts: [] };
const CLASS = /\[(?:\\.|[^\]\\])*\]/suy;
const ESCAPE = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<[^>]*>|.)/suy;
const GROUP = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z]*(?:-[a-z]+)?:))?/y;
const REPEAT = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
const BOUNDARY = /^(?:[$^]|\\[bB])$/;

/** Parses a pattern that JavaScript accepts. Assertions and references to groups match nothing here. */
export function parsePattern(source: string): Part {
  return new Parser(source).choice();
}

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  choice(): Part {
    const parts = [this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      parts.push(this.#sequence());
    }
    return parts.length === 1 ? parts[0]! : { type: "choice", parts };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!)) parts.push(this.#repeated());
    return { type: "sequence", parts };
  }

  #repeated(): Part {
    const part = this.#single();
    const [repeat, least, comma, most] = this.#take(REPEAT) ?? [];
    if (repeat === undefined) return part;
    if (least === undefined) return { type: "repeat", part, ...BOUNDS[repeat[0]!]! };
    return { type: "repeat", part, least: Number(least), most: comma ? Number(most || Infinity) : Number(least) };
  }

  #single(): Part {
    const group = this.#take(GROUP)?.[0];
    if (group !== undefined) {
      const inner = this.choice();
      this.#at++;
      // What is looked for ahead or behind is matched with repetitions of its own.
      return /^\(\?<?[=!]/.test(group) ? { type: "repeat", part: inner, least: 0, most: 1 } : inner;
    }
    const text = (this.#take(CLASS) ?? this.#take(ESCAPE))?.[0] ?? this.#character();
    return BOUNDARY.test(text) || /^\\(?:[1-9]|k<)/.test(text) ? NOTHING : { type: "atom", text };
  }

  #character(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    this.#at += character.length;
    return character;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match;
  }
}

const BOUNDS: Readonly<Record<string, { readonly least: number; readonly most: number }>> = {
  "*": { least: 0, most: Infinity },
  "+": { least: 1, most: Infinity },
  "?": { least: 0, most: 1 },
};
