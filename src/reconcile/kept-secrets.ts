/** The objects with sensitive values that one run has read or written, so that what it says repeats none of them. */
import { printable } from "../observe/printable.ts";
import type { SensitiveTexts } from "../resource/sensitive.ts";

/** Shorter values occur by chance. */
const SHORTEST = 8;
/** Characters of a text that are looked at, and repeated at most. */
const LONGEST = 65_536;
const INSTEAD = "[redacted]";

export interface KeptSecretsOptions {
  /** Objects that are kept; of more the oldest are forgotten. @default all */
  readonly most?: number | undefined;
}

/** Keeps references only: values are taken out of the objects when there is something to say. */
export class KeptSecrets {
  readonly #objects = new Map<unknown, SensitiveTexts>();
  readonly #most: number;
  /** Longest first, because a value may be a part of another one. `undefined` until they are wanted. */
  #needles: readonly string[] | undefined;

  constructor({ most = Infinity }: KeptSecretsOptions = {}) {
    this.#most = most;
  }

  add(object: unknown, texts: SensitiveTexts): void {
    if (this.#objects.has(object)) return;
    this.#objects.set(object, texts);
    this.#needles = undefined;
    if (this.#objects.size > this.#most) this.#objects.delete(this.#objects.keys().next().value);
  }

  /** The text without any of the values: as they are, in base64, and as JSON and URLs spell them. */
  clean(text: string): string {
    if (text.length < SHORTEST) return text;
    let clean = text.slice(0, LONGEST);
    for (const needle of this.#spelled()) {
      if (clean.includes(needle)) clean = clean.replaceAll(needle, INSTEAD);
    }
    return clean;
  }

  #spelled(): readonly string[] {
    if (this.#needles !== undefined) return this.#needles;
    const all = new Set<string>();
    for (const [object, texts] of this.#objects) {
      for (const value of texts(object)) for (const spelling of spellings(value)) all.add(spelling);
    }
    const needles = [...all].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length);
    this.#needles = needles;
    return needles;
  }
}

function* spellings(value: string): Generator<string> {
  if (value.length < SHORTEST) return;
  yield value;
  const trimmed = value.trim(); // what `echo` made ends with a line break
  if (trimmed.length < SHORTEST) return;
  for (const text of trimmed === value ? [value] : [value, trimmed]) {
    yield text;
    yield JSON.stringify(text).slice(1, -1);
    yield printable(text);
    yield encodeURIComponent(text.toWellFormed());
    const bytes = Buffer.from(text);
    yield bytes.toString("base64").replace(/=+$/, "");
    yield bytes.toString("base64url");
  }
}
