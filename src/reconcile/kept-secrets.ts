/** Remembers the objects with sensitive values that a run has read or written, so that its messages can leave these out. */
import { printable } from "../observe/printable.ts";
import type { SensitiveTexts } from "../resource/sensitive.ts";

/** Shorter values are ignored, because they occur by chance. */
const SHORTEST = 8;
/** The most characters of a text that are searched and kept. */
const LONGEST = 65_536;
const INSTEAD = "[redacted]";

export interface KeptSecretsOptions {
  /** Objects that are kept; of more the oldest are forgotten. @default all */
  readonly most?: number | undefined;
}

/** Keeps references only; the values are extracted when a message must be cleaned. */
export class KeptSecrets {
  readonly #objects = new Map<unknown, SensitiveTexts>();
  readonly #most: number;
  /** The values, longest first because one may be a part of another; `undefined` until they are needed. */
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

  /** Removes the values from a text, in plain form, in base64, and as escaped in JSON and URLs. */
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
  const trimmed = value.trim(); // a value that was made with `echo` ends with a line break
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
