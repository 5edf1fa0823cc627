/** Makes texts for a regular expression that take long if anything does: a beginning, a repetition, and an end that does not match. */
import { type Part, parsePattern } from "./pattern-parts.ts";

/** A text is `before`, then `again` any number of times, then `after`. */
export interface SlowText {
  readonly before: string;
  readonly again: string;
  readonly after: string;
}

/** Characters of every kind that patterns tell apart: ASCII, letters, blanks, line ends and signs from elsewhere. */
const ALPHABET = [
  ..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".split(""),
  ...Array.from({ length: 127 }, (_, code) => String.fromCharCode(code)).filter((one) => !/[a-zA-Z0-9]/.test(one)),
  "\u0085",
  "\u00a0",
  "é",
  "µ",
  "\u200e",
  "\u2028",
  "\u2029",
  "中",
  "😀",
];
/** The most characters that are tried as a repetition by themselves. */
const MOST_SINGLE = 12;
/** How many examples are made of a part that has alternatives. */
const EXAMPLES = 3;

/** Yields the texts for one pattern; none if nothing in it repeats without a bound. */
export function* slowTexts({ source, flags }: RegExp): Generator<SlowText> {
  const whole = parsePattern(source);
  const repeats = [...unbounded(whole, [])];
  if (repeats.length === 0) return;
  const letters = new Letters(flags);
  const seen = new Set<string>();
  for (const { repeat, before } of repeats) {
    const singles = letters.kinds([...atoms(repeat)], [...atoms(whole)]).slice(0, MOST_SINGLE);
    const other = letters.kinds([...atoms(whole)], [...atoms(repeat)]).find((one) => !singles.includes(one)) ?? "";
    const led: string[] = [];
    const again = new Set(singles);
    for (let turn = 0; turn < EXAMPLES; turn++) {
      const lead = before.map((part) => letters.example(part, turn)).join("");
      const body = letters.example(repeat, turn);
      led.push(lead);
      for (const text of [body, lead, lead + body, body + letters.example(repeat, turn + 1)]) again.add(text);
    }
    for (const single of singles) again.add(led[0]! + single).add(single + led[0]!);
    for (const before of new Set(["", "!", ...led])) {
      for (const one of again) {
        if (one === "") continue;
        for (const after of ["", "\u0000", "\n", "!", `${other}\n`]) {
          const key = JSON.stringify([before, one, after]);
          if (seen.has(key)) continue;
          seen.add(key);
          yield { before, again: one, after };
        }
      }
    }
  }
}

interface Unbounded {
  /** What is repeated. */
  readonly repeat: Part;
  /** The parts that are matched before it. */
  readonly before: readonly Part[];
}

function* unbounded(part: Part, before: readonly Part[]): Generator<Unbounded> {
  if (part.type === "repeat") {
    if (part.most > 100) yield { repeat: part.part, before };
    yield* unbounded(part.part, before);
  } else if (part.type === "choice") {
    for (const one of part.parts) yield* unbounded(one, before);
  } else if (part.type === "sequence") {
    for (const [index, one] of part.parts.entries()) yield* unbounded(one, [...before, ...part.parts.slice(0, index)]);
  }
}

function* atoms(part: Part): Generator<string> {
  if (part.type === "atom") yield part.text;
  else if (part.type === "repeat") yield* atoms(part.part);
  else for (const one of part.parts) yield* atoms(one);
}

/** Knows which characters the atoms of one pattern match. */
class Letters {
  readonly #flags: string;
  readonly #matched = new Map<string, readonly string[]>();

  constructor(flags: string) {
    this.#flags = flags.replace(/[gy]/g, "");
  }

  /** Returns one character of each kind that the first atoms match, where all atoms together tell the kinds apart. */
  kinds(first: readonly string[], all: readonly string[]): string[] {
    const among = new Set(first.flatMap((atom) => this.#of(atom)));
    const distinct = [...new Set(all)];
    const byKind = new Map<string, string>();
    for (const letter of among) {
      // Boundaries tell words from signs.
      const kind = [/\w/.test(letter), ...distinct.map((atom) => this.#of(atom).includes(letter))].join();
      if (!byKind.has(kind)) byKind.set(kind, letter);
    }
    // Signs first: they separate more often than letters do.
    return [...byKind.values()].sort((one, two) => Number(/\w/.test(one)) - Number(/\w/.test(two)));
  }

  /** Returns a text that the part matches, another one for each turn. */
  example(part: Part, turn: number): string {
    if (part.type === "sequence") return part.parts.map((one) => this.example(one, turn)).join("");
    if (part.type === "choice") return this.example(part.parts[turn % part.parts.length]!, turn);
    if (part.type === "repeat") {
      return this.example(part.part, turn).repeat(Math.min(Math.max(part.least, turn % 2), part.most));
    }
    const matched = this.#of(part.text);
    return matched[(turn * 7) % matched.length] ?? "";
  }

  #of(atom: string): readonly string[] {
    let matched = this.#matched.get(atom);
    if (matched === undefined) {
      const one = new RegExp(`^(?:${atom})$`, this.#flags);
      matched = ALPHABET.filter((letter) => one.test(letter));
      this.#matched.set(atom, matched);
    }
    return matched;
  }
}
