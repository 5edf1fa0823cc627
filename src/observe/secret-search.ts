/** Finds secret values in texts: all of them in one pass, however many there are. */
import { printable } from "./printable.ts";

/** Shorter values are ignored, because they occur by chance. */
export const SHORTEST_SECRET = 8;
/** Replaces a secret value. */
const INSTEAD_OF_SECRET = "[redacted]";
/** Replaces a whole text that cannot be searched within the bounds. */
export const INSTEAD_OF_TEXT = "[redacted: there are more secret values here than a text is searched for]";

/** The number of characters of a value that are searched for; at a match, the rest of a longer value is compared. */
const BEGINNING = 64;
/** The most comparisons in one text, so that values which all begin alike cost no more than others. */
const MOST_STEPS = 2 ** 17;
/** The number of characters for which a comparison costs one step. */
const STEP = 64;
const TABLE_BITS = 14;
const FACTOR = 0x0100_0193;
const FACTOR_OUT = Array.from({ length: SHORTEST_SECRET }).reduce<number>((power) => Math.imul(power, FACTOR), 1);

interface Spelling {
  readonly of: (text: string) => string;
  /**
   * The number of characters in one unit of the spelling: only a beginning of whole units has the same spelling alone
   * and in the value.
   */
  readonly unit: number;
}

const AS_IT_IS: Spelling = { of: (text) => text, unit: 1 };
const IN_BASE64: readonly Spelling[] = [
  {
    of: (text) =>
      Buffer.from(text)
        .toString("base64")
        .replace(/={1,2}$/, ""),
    unit: 4,
  },
  { of: (text) => Buffer.from(text).toString("base64url"), unit: 4 },
];
const ESCAPED: readonly Spelling[] = [
  { of: (text) => JSON.stringify(text).slice(1, -1), unit: 1 },
  { of: printable, unit: 1 },
  { of: (text) => encodeURIComponent(text.toWellFormed()), unit: 1 },
];
const SPELLINGS = [AS_IT_IS, ...ESCAPED, ...IN_BASE64];
/** The spellings of a text in which nothing has to be escaped. */
const PLAIN_SPELLINGS = [AS_IT_IS, ...IN_BASE64];

/** A text to search for: a whole value, or the common beginning of longer ones. */
interface Needle {
  readonly text: string;
  isWhole: boolean;
  readonly longer: { readonly value: string; readonly spelling: Spelling }[];
}

/** A place in a text at which a value may begin. */
interface Place {
  readonly text: string;
  readonly at: number;
  readonly isCut: boolean;
}

export class SecretSearch {
  readonly #values = new Set<string>();
  readonly #needles = new Map<string, Needle>();
  /** The needles by their first characters. */
  readonly #byStart = new Map<string, Needle[]>();
  /** Shows, by a hash of the next characters, that no needle begins at most places. */
  #table: Uint8Array | undefined;

  /** Adds a value in plain form, in base64, and as escaped in JSON and URLs. A value that is too short is not added. */
  add(value: string): void {
    this.#add(value);
    this.#add(value.trim()); // a value that was made with `echo` ends with a line break
  }

  /**
   * Returns the text without any of the values.
   *
   * @param isCut whether the text was cut, so that a value may continue beyond its end
   */
  clean(text: string, isCut = false): string {
    const table = this.#table;
    if (table === undefined || text.length < SHORTEST_SECRET) return text;
    let clean = "";
    let done = 0;
    let hash = 0;
    let steps = 0;
    for (let last = 0; last < text.length; last++) {
      hash = (Math.imul(hash, FACTOR) + text.charCodeAt(last)) | 0;
      const at = last - SHORTEST_SECRET + 1;
      if (at > 0) hash = (hash - Math.imul(text.charCodeAt(at - 1), FACTOR_OUT)) | 0;
      if (at < 0 || table[placeOf(hash)] === 0) continue;
      let end = at;
      for (const needle of this.#byStart.get(text.slice(at, last + 1)) ?? []) {
        const match = endOf(needle, { text, at, isCut });
        end = Math.max(end, match.end);
        steps += match.steps;
        if (steps > MOST_STEPS) return INSTEAD_OF_TEXT;
      }
      if (end === at) continue;
      if (at >= done) clean += text.slice(done, at) + INSTEAD_OF_SECRET;
      done = Math.max(done, end);
    }
    // The last characters of a cut text may be the beginning of a value.
    return clean + text.slice(done, isCut ? Math.max(done, text.length - SHORTEST_SECRET + 1) : undefined);
  }

  #add(value: string): void {
    if (value.length < SHORTEST_SECRET || this.#values.has(value)) return;
    this.#values.add(value);
    const isLong = value.length > BEGINNING;
    const beginning = isLong ? value.slice(0, BEGINNING).replace(/[\ud800-\udbff]$/, "") : value;
    let before = "";
    for (const spelling of /^[\w.~-]+$/.test(beginning) ? PLAIN_SPELLINGS : SPELLINGS) {
      const spelled = spelling.of(beginning);
      if (spelled === before) continue;
      before = spelled;
      const text = isLong ? spelled.slice(0, spelled.length - (spelled.length % spelling.unit)) : spelled;
      if (text.length < SHORTEST_SECRET) continue;
      const needle = this.#needleOf(text);
      if (isLong) needle.longer.push({ value, spelling });
      else needle.isWhole = true;
    }
  }

  #needleOf(text: string): Needle {
    const existing = this.#needles.get(text);
    if (existing !== undefined) return existing;
    const needle: Needle = { text, isWhole: false, longer: [] };
    this.#needles.set(text, needle);
    const start = text.slice(0, SHORTEST_SECRET);
    const others = this.#byStart.get(start);
    if (others === undefined) this.#byStart.set(start, [needle]);
    else others.push(needle);
    let hash = 0;
    for (let at = 0; at < SHORTEST_SECRET; at++) hash = (Math.imul(hash, FACTOR) + start.charCodeAt(at)) | 0;
    (this.#table ??= new Uint8Array(2 ** TABLE_BITS))[placeOf(hash)] = 1;
    return needle;
  }
}

function placeOf(hash: number): number {
  return hash >>> (32 - TABLE_BITS);
}

/**
 * Returns the end of the longest value that begins at a place (the place itself if none does), and the cost of the
 * search.
 */
function endOf({ text: needle, isWhole, longer }: Needle, place: Place): { end: number; steps: number } {
  const { text, at } = place;
  if (!text.startsWith(needle, at)) return { end: isBegun(needle, place) ? text.length : at, steps: 1 };
  let end = isWhole ? at + needle.length : at;
  let steps = 1;
  for (const { value, spelling } of longer) {
    // No spelling is shorter than the value, so that more of it cannot be in the text.
    const part = value.slice(0, text.length - at + STEP);
    const spelled = spelling.of(part);
    steps += 1 + Math.ceil(part.length / STEP);
    if (text.startsWith(spelled, at)) end = Math.max(end, at + spelled.length);
    else if (isBegun(spelled, place)) end = text.length;
    if (steps > MOST_STEPS) break;
  }
  return { end, steps };
}

/** Whether the text was cut within the value. */
function isBegun(spelled: string, { text, at, isCut }: Place): boolean {
  return isCut && at + spelled.length > text.length && spelled.startsWith(text.slice(at));
}
